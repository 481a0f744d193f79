package email_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"handover/internal/email"
	"handover/internal/order"
)

var update = flag.Bool("update", false, "write the golden files again")

func sample() email.Access {
	return email.Access{
		ShopName:  "Example Shop",
		BuyerName: "Ada Lovelace",
		OrderRef:  "live/cs_live_a1b2",
		Link:      order.LinkPlaceholder,
		Items:     []email.AccessItem{{Name: "The Field Guide", Units: 1, Download: true}},
	}
}

func TestAccessEmailLooksLikeTheGoldenFiles(t *testing.T) {
	t.Parallel()
	several := sample()
	several.BuyerName = ""
	several.Items = []email.AccessItem{
		{Name: "The Field Guide", Units: 1, Download: true},
		{Name: "Größe & Maß", Units: 1, Download: true},
		{Name: "Studio", Units: 2},
	}
	several.Licenses = []email.LicenseLine{
		{Product: "Studio", Key: "01234-56789-ABCDE-FGHJK-MNPQR"},
		{Product: "Studio", Key: "STVWX-YZ012-34567-89ABC-DEFGH"},
	}
	license := sample()
	license.Items = []email.AccessItem{{Name: "Studio", Units: 1}}
	license.Licenses = several.Licenses[:1]
	hostile := sample()
	hostile.BuyerName = `<a href="https://evil.test">Claim</a>`
	hostile.ShopName = `Tom & "Jerry" <3`
	hostile.Items = []email.AccessItem{{Name: `{{.Email}} {{7*7}}`, Units: 1, Download: true}}

	for name, a := range map[string]email.Access{
		"one_download": sample(), "several": several, "license_only": license, "hostile_names": hostile,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			subject, text, html, err := email.RenderAccess(a)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", "Subject: "+subject+"\n\n"+text)
			golden(t, name+".html", html)
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "access", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

func TestNamesAreTextAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		`<a href="https://evil.test">Claim</a>`, `Tom & "Jerry" <3`, `{{.Email}}`, `{{7*7}}`, `</title><script>alert(1)</script>`,
		`'); DROP--`, `O'Neil`, `&amp;`, `100%s %d`,
	} {
		a := sample()
		a.BuyerName, a.ShopName = name, name
		a.Items[0].Name = name
		a.Licenses = []email.LicenseLine{{Product: name, Key: name}}
		subject, text, html, err := email.RenderAccess(a)
		if err != nil {
			t.Fatal(err)
		}
		if want := "Your download: " + name; subject != want {
			t.Errorf("subject %q; want %q", subject, want)
		}
		greeting := "Hello " + name + ","
		if slices.Contains([]string{`<a href="https://evil.test">Claim</a>`, `</title><script>alert(1)</script>`, `{{.Email}}`, `100%s %d`}, name) {
			greeting = "Hello,"
		}
		for _, want := range []string{greeting, "order from " + name + ".", "- " + name, "    " + name} {
			if !strings.Contains(text, want) {
				t.Errorf("the text lacks %q:\n%s", want, text)
			}
		}
		if strings.ContainsAny(name, "<>") && strings.Contains(html, name) {
			t.Errorf("%q stands unescaped in the HTML", name)
		}
		bland := sample()
		bland.Licenses = []email.LicenseLine{{Product: "x", Key: "x"}}
		_, _, blandHTML, err := email.RenderAccess(bland)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Count(html, "<"), strings.Count(blandHTML, "<"); got != want {
			t.Errorf("%q changes the number of tags from %d to %d", name, want, got)
		}
	}
}

func TestGreetingWithoutAName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "  \t\n", "<nil>", "null", "undefined", "\u202e",
		"your account is locked: evil.example", "https://evil.test/x", "evil.test", "Ann www.evil.test", "ann@evil.test", "evil．test",
		"Call 0800 123", strings.Repeat("Anna ", 9)} {
		a := sample()
		a.BuyerName = name
		_, text, html, err := email.RenderAccess(a)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(text, "Hello,\n") || !strings.Contains(html, ">Hello,<") {
			t.Errorf("name %q: greeting is not plain:\n%s", name, text)
		}
	}
}

func TestGreetingByName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Ann", "J. R. R. Tolkien", "Charles III", "Jean-Luc d'Ormesson", "Müller 2", "李小龙"} {
		a := sample()
		a.BuyerName = name
		_, text, _, err := email.RenderAccess(a)
		if err != nil || !strings.HasPrefix(text, "Hello "+name+",\n") {
			t.Errorf("%q: %v\n%s", name, err, text)
		}
	}
}

func TestSubjectIsOneSafeLine(t *testing.T) {
	t.Parallel()
	a := sample()
	a.Items[0].Name = "Guide\r\nBcc: all@evil.test\x00\u2028\u202etxt\xff"
	subject, _, _, err := email.RenderAccess(a)
	if err != nil {
		t.Fatal(err)
	}
	if want := "Your download: Guide Bcc: all@evil.test txt\uFFFD"; subject != want {
		t.Errorf("subject %q; want %q", subject, want)
	}
	if strings.ContainsFunc(subject, unicode.IsControl) {
		t.Errorf("subject %q has a control character", subject)
	}
}

func TestSubjectNamesTheProducts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 30)
	for _, c := range []struct {
		name  string
		items []email.AccessItem
		keys  int
		want  string
	}{
		{"two", []email.AccessItem{{Name: "A", Download: true}, {Name: "B", Download: true}}, 0, "Your downloads: A and B"},
		{"three", []email.AccessItem{{Name: "A", Download: true}, {Name: "B"}, {Name: "C"}}, 0, "Your download: A, B and C"},
		{"a key", []email.AccessItem{{Name: "A"}}, 1, "Your licence key: A"},
		{"keys", []email.AccessItem{{Name: "A", Units: 2}}, 2, "Your licence keys: A"},
		{"neither", []email.AccessItem{{Name: "A"}}, 0, "Your order: A"},
		{"no name", []email.AccessItem{{Name: " ", Download: true}}, 0, "Your download: your purchase"},
		{"one too long", []email.AccessItem{{Name: "A", Download: true}, {Name: long}, {Name: "C"}}, 0, "Your download: A and 2 more"},
		{"the first too long", []email.AccessItem{{Name: long, Download: true}}, 0, "Your download: " + strings.TrimSpace(long[:119]) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := sample()
			a.Items = c.items
			for i := range c.keys {
				a.Licenses = append(a.Licenses, email.LicenseLine{Product: "A", Key: fmt.Sprint(i)})
			}
			subject, _, _, err := email.RenderAccess(a)
			if err != nil {
				t.Fatal(err)
			}
			if subject != c.want {
				t.Errorf("subject %q; want %q", subject, c.want)
			}
		})
	}
}

func TestNothingToOpenIsNotAnEmail(t *testing.T) {
	t.Parallel()
	noItems, noLink := sample(), sample()
	noItems.Items, noLink.Link = nil, ""
	for _, a := range []email.Access{noItems, noLink} {
		if _, _, _, err := email.RenderAccess(a); err == nil {
			t.Errorf("rendered %+v", a)
		}
	}
}

func TestLinkTakesThePlaceholdersPlace(t *testing.T) {
	t.Parallel()
	subject, text, html, err := email.RenderAccess(sample())
	if err != nil {
		t.Fatal(err)
	}
	stored := order.Message{From: "shop@example.com", To: "ada@example.com", Subject: subject, Text: text, HTML: html}
	const link = "https://downloads.example.com/d/AZaz09-_"
	sent := stored.WithLink(link)

	if got, want := strings.Count(text, order.LinkPlaceholder), strings.Count(sent.Text, link); got != 1 || want != 1 {
		t.Errorf("text: %d placeholders, %d links; want one each", got, want)
	}
	if got := strings.Count(sent.HTML, `href="`+link+`"`); got != 2 {
		t.Errorf("HTML: %d anchors with the link; want the button and the plain one", got)
	}
	if got := strings.Count(sent.HTML, ">"+link+"<"); got != 1 {
		t.Errorf("HTML: the link is shown %d times; want once", got)
	}
	if strings.Contains(sent.Text+sent.HTML, "handover.invalid") {
		t.Error("a placeholder is left")
	}
	if !strings.Contains(stored.HTML, order.LinkPlaceholder) {
		t.Error("the stored message was changed")
	}
	if diff := cmp.Diff(sent, stored.WithLink(link)); diff != "" {
		t.Errorf("the second attempt differs:\n%s", diff)
	}
}

func TestLinkCannotBreakOutOfItsAttribute(t *testing.T) {
	t.Parallel()
	m := order.Message{HTML: `<a href="` + order.LinkPlaceholder + `">x</a>`}
	got := m.WithLink(`https://x.test/"><script>`).HTML
	if want := `<a href="https://x.test/&#34;&gt;&lt;script&gt;">x</a>`; got != want {
		t.Errorf("got %s; want %s", got, want)
	}
}

func TestMessageAboutATestSaysSo(t *testing.T) {
	t.Parallel()
	const banner = "This is a test: no money was paid"
	for _, test := range []bool{true, false} {
		a := sample()
		a.Test = test
		_, text, html, err := email.RenderAccess(a)
		if err != nil || strings.Contains(text, banner) != test || strings.Contains(html, banner) != test {
			t.Errorf("test %v: %v\n%s", test, err, text)
		}
	}
}
