package creem_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"handover/internal/payment"
	"handover/internal/payment/creem"
)

// The signatures were made with: printf '%s' BODY | openssl dgst -sha256 -hmac SECRET
const (
	body      = `{"id":"evt_vector","eventType":"checkout.completed","object":{"name":"Zoë 🎁"}}`
	escaped   = `{"id":"evt_vector","eventType":"checkout.completed","object":{"name":"Zo\u00eb \ud83c\udf81"}}`
	good      = "03fded3dd87116c9e2e4cfb3dd364918410b4dccbc9198175ac6eb790647cb5c"
	ofSecond  = "7b043a3e67f2141c448179c07b0bc927dffab4b549fa8b568a76bb065bc714ba"
	ofEscaped = "8320762948f118b3465526e1a8c72e7b72f068d89c7b36f55c922c917cf62cfc"
)

func TestTheSignatureIsLowerCaseHexOverTheRawBytes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		body  string
		lines []string
		want  bool
	}{
		{"right", body, []string{good}, true},
		{"with spaces", body, []string{" " + good + " "}, true},
		{"escapes instead of letters", escaped, []string{ofEscaped}, true},
		{"re-encoded on the way", escaped, []string{good}, false},
		{"of another secret", body, []string{ofSecond}, false},
		{"on the second line", body, []string{ofSecond, good}, true},
		{"lines joined by a proxy", body, []string{ofSecond + ", " + good}, true},
		{"upper-case hex", body, []string{strings.ToUpper(good)}, false},
		{"a null byte of hex", body, []string{"00"}, false},
		{"not hex", body, []string{strings.Repeat("z", 64)}, false},
		{"an odd number of digits", body, []string{good[:63]}, false},
		{"half of it", body, []string{good[:32]}, false},
		{"with a scheme in front", body, []string{"sha256=" + good}, false},
		{"empty", body, []string{""}, false},
		{"none", body, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := provider(t, nil).Verify(http.Header{"Creem-Signature": test.lines}, []byte(test.body), time.Now())
			if (err == nil) != test.want || err != nil && !errors.Is(err, payment.ErrSignature) {
				t.Errorf("error %v, want accepted %v", err, test.want)
			}
		})
	}
}

// The scheme has no time to go stale by: an old delivery verifies as long as its secret does.
func TestASignatureDoesNotAge(t *testing.T) {
	t.Parallel()
	header := http.Header{"Creem-Signature": {good}}
	if err := provider(t, nil).Verify(header, []byte(body), time.Now().AddDate(5, 0, 0)); err != nil {
		t.Errorf("refused: %v", err)
	}
}

func TestBothSecretsCountWhileOneIsReplaced(t *testing.T) {
	t.Parallel()
	p := provider(t, func(c *creem.Config) { c.WebhookSecrets = []string{"whsec_second_secret_of_the_store", secret} })
	for _, signature := range []string{good, ofSecond} {
		if err := p.Verify(http.Header{"Creem-Signature": {signature}}, []byte(body), time.Now()); err != nil {
			t.Errorf("%s refused: %v", signature[:8], err)
		}
	}
}

// A flood of guesses must not make a header expensive.
func TestSignaturesBeyondTheBoundAreNotLookedAt(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{31: true, 32: false} {
		header := http.Header{"Creem-Signature": {strings.Repeat("00,", n) + good}}
		if err := provider(t, nil).Verify(header, []byte(body), time.Now()); (err == nil) != want {
			t.Errorf("%d in front: error %v, want accepted %v", n, err, want)
		}
	}
}
