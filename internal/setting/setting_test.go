package setting_test

import (
	"strings"
	"testing"

	"handover/internal/setting"
)

func TestAnErrorNamesTheSettingAndNotItsValue(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	problems := setting.Secrets("webhook_secrets", []string{"", "private", strings.Repeat("private ", 3)}, "paste it again", none)
	problems = append(problems, setting.Address("api_url", "private.example")...)
	got := setting.Error("shop", problems)
	if got == nil {
		t.Fatal("nothing is refused")
	}
	for _, want := range []string{
		"shop: webhook_secrets[0] is empty; paste it again", "webhook_secrets[1] is too short", "webhook_secrets[2] has a space", "api_url is not an absolute",
	} {
		if !strings.Contains(got.Error(), want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	if strings.Contains(got.Error(), "private") {
		t.Errorf("the error repeats a value: %v", got)
	}
	if err := setting.Error("shop", nil); err != nil {
		t.Errorf("without a problem: %v", err)
	}
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		strings.Repeat("x", 32):             true,
		strings.Repeat("changeM", 8):        true,
		"link-secret-0123456789abcdef-0123": false,
		"1f0e6ac3b5d2789401fe6ac3b5d27894":  false,
	} {
		if got := setting.Repeats(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
