package order_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"handover/internal/order"
)

func TestAddressStaysAsItWasTyped(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"alex@example.com", "Alex+Shop@Example.com", "o'neil@example.ie", `"two words"@example.com`, `"alex"@example.com`, `"a\"b"@example.com`, "a.b-c_d@sub.example.co.uk",
		strings.Repeat("l", 64) + "@example.com", "user@localhost", "jörg@bücher.example", "x@[192.0.2.1]", "!#$%&'*+-/=?^_`{|}~@example.com",
	} {
		if got, ok := order.CleanAddress(s); !ok || got != s {
			t.Errorf("CleanAddress(%q) = %q, %v", s, got, ok)
		}
		if got, ok := order.CleanAddress(" \t" + s + " \n"); !ok || got != s {
			t.Errorf("with spaces around it: CleanAddress(%q) = %q, %v", s, got, ok)
		}
	}
}

func TestAnythingElseIsNoAddress(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "  ", "alex", "@example.com", "alex@", "a@b@c", "Alex <alex@example.com>", "<alex@example.com>", `"Alex" <alex@example.com>`,
		"a@example.com, b@example.com", "a@example.com;b@example.com", "a@example.com b@example.com", "al ex@example.com", "alex@exam ple.com",
		"alex@example.com\r\nBcc: everybody@example.com", "alex@example.com\x00", "alex@example.com (Alex)", ".alex@example.com", "alex@.example.com",
		"alex..b@example.com", strings.Repeat("l", 310) + "@example.com", "group: a@example.com;", `"group": a@example.com;`, `"group":"a"@example.com;`, "alex(me)@example.com", "(me)alex@example.com", "alex @example.com",
		"alex@ example.com", `"alex" @example.com`, `(me)"a b"@example.com`, `""@example.com`, "alex@example.com>",
	} {
		if got, ok := order.CleanAddress(s); ok || got != "" {
			t.Errorf("CleanAddress(%q) = %q, %v", s, got, ok)
		}
	}
}

func TestMaskedAddressIsRecognisedByItsOwnerOnly(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"alex@example.com":           "a•••@e•••.com",
		"x@y.z":                      "x•••@y•••.z",
		"alex+shop@mail.example.org": "a•••@m•••.org",
		"jörg@bücher.example":        "j•••@b•••.example",
		"örjan@example.se":           "ö•••@e•••.se",
		`"a@b"@example.com`:          `"•••@e•••.com`,
		"user@localhost":             "u•••@•••",
		"user@.com":                  "u•••@•••",
		"nothing":                    "",
		"@example.com":               "",
		"alex@":                      "",
		"":                           "",
	} {
		if got := order.MaskAddress(address); got != want {
			t.Errorf("MaskAddress(%q) = %q, want %q", address, got, want)
		}
	}
}

func TestMaskHidesTheAddress(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		local := rapid.StringMatching(`[a-z0-9.+']{4,64}`).Draw(t, "local")
		domain := rapid.StringMatching(`[a-z0-9-]{4,30}`).Draw(t, "domain")
		masked := order.MaskAddress(local + "@" + domain + ".com")
		for _, secret := range []string{local[1:], domain[1:]} {
			if strings.Contains(masked, secret) {
				t.Fatalf("%q shows %q", masked, secret)
			}
		}
		if n := len([]rune(masked)); n != len([]rune("a•••@e•••.com")) {
			t.Fatalf("%q tells how long the address is", masked)
		}
	})
}
