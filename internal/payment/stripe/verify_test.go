package stripe_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/payment/stripe"
)

const (
	firstSecret  = "whsec_first_secret_of_the_shop"
	secondSecret = "whsec_second_secret_of_the_shop"
)

func provider(t testing.TB, change func(*stripe.Config)) *stripe.Provider {
	t.Helper()
	cfg := stripe.Config{APIKey: "sk_test_key", WebhookSecrets: []string{firstSecret}, Mode: order.Test}
	if change != nil {
		change(&cfg)
	}
	p, err := stripe.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func secrets(s ...string) func(*stripe.Config) {
	return func(cfg *stripe.Config) { cfg.WebhookSecrets = s }
}

func signed(lines ...string) http.Header { return http.Header{"Stripe-Signature": lines} }

func digest(secret string, t any, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%v.%s", t, body)
	return hex.EncodeToString(mac.Sum(nil))
}

// The signatures were made with: printf '1760000000.BODY' | openssl dgst -sha256 -hmac SECRET
func TestTheSignatureCoversTheRawBytes(t *testing.T) {
	t.Parallel()
	const (
		lf      = "{\n  \"id\": \"evt_vector\",\n  \"object\": \"event\"\n}"
		crlf    = "{\r\n  \"id\": \"evt_vector\",\r\n  \"object\": \"event\"\r\n}"
		utf8    = `{"id":"evt_vector","name":"Zoë 🎁 李"}`
		escaped = `{"id":"evt_vector","name":"Zo\u00eb \ud83c\udf81 \u674e"}`
		lfMAC   = "e2861d653599a99fbd446f421650a7389bef70b1b085ed49c8fb3cbbdbf0003c"
	)
	for _, test := range []struct {
		name, secret, body, mac string
		want                    bool
	}{
		{"LF", firstSecret, lf, lfMAC, true},
		{"another secret", secondSecret, lf, "a8e92a4c49010033f709004afa2a2801f1dbfc4b3e3ad0ce119aa1ace7d0c0d9", true},
		{"CRLF", firstSecret, crlf, "9c4f9f7c334d3844ab3e14850feb5e94b84da9596bc43869e5e66fadd3bba437", true},
		{"byte order mark", firstSecret, "\xef\xbb\xbf" + lf, "252b96a7bf0a0f2b6d973a8cfbd8f1d7f8e88a58fa181b11b05eb68a8f61a4e7", true},
		{"UTF-8", firstSecret, utf8, "17256ce174e14ad522260894e2cd7ce9252a9757fe3f17b90040c88323fb8813", true},
		{"escapes", firstSecret, escaped, "b4c8eaf0b098346e4ec9b777c9a420baea4706f2fd0a32fd0df6588fde29a9f0", true},
		{"upper-case hex", firstSecret, lf, strings.ToUpper(lfMAC), true},
		{"signed with the other secret", secondSecret, lf, lfMAC, false},
		{"line ends changed on the way", firstSecret, crlf, lfMAC, false},
		{"a newline added on the way", firstSecret, lf + "\n", lfMAC, false},
		{"re-encoded on the way", firstSecret, escaped, "17256ce174e14ad522260894e2cd7ce9252a9757fe3f17b90040c88323fb8813", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := provider(t, secrets(test.secret))
			err := p.Verify(signed("t=1760000000,v1="+test.mac), []byte(test.body), time.Unix(1760000001, 0))
			check(t, err, test.want)
		})
	}
}

func check(t *testing.T, err error, accepted bool) {
	t.Helper()
	if accepted && err != nil {
		t.Errorf("refused: %v", err)
	}
	if !accepted && !errors.Is(err, payment.ErrSignature) {
		t.Errorf("error %v, want ErrSignature", err)
	}
}

// The message of the test suite of https://github.com/stripe/stripe-dotnet, published there with its signature.
func TestThePublishedMessageVerifies(t *testing.T) {
	t.Parallel()
	const (
		body = `{
  "id": "evt_123",
  "object": "event",
  "account": "acct_123",
  "api_version": "2017-05-25",
  "created": 1533204620,
  "data": {
    "object": {
      "id": "cus_123",
      "object": "customer",
      "created": 123456789,
      "email": "test@stripe.com",
      "livemode": false,
      "metadata": {}
    }
  },
  "livemode": false,
  "pending_webhooks": 1,
  "request": {
    "id": "req_123",
    "idempotency_key": "idempotency-key-123"
  },
  "type": "customer.created"
}
`
		header = "t=1533204620," +
			"v1=2220f87ef101a04665f11cdf770523143f875572008577fa0f20882ddb9cc3c7," +
			"v0=63f3a72374a733066c4be69ed7f8e5ac85c22c9f0a6a612ab9a025a9e4ee7eef"
		sent = 1533204620
	)
	p := stripe.WithSecret("webhook_secret")
	check(t, p.Verify(signed(header), []byte(body), time.Unix(sent+100, 0)), true)
	check(t, p.Verify(signed(header), []byte(body), time.Unix(sent+400, 0)), false)
	check(t, p.Verify(signed(header), []byte(body+" "), time.Unix(sent+100, 0)), false)
	e, err := p.Translate([]byte(body))
	if err != nil || e.Account != "acct_123" || e.Kind != payment.EventOther {
		t.Errorf("event %+v, error %v", e, err)
	}
}

func TestTheTimestampCountsWithin300Seconds(t *testing.T) {
	t.Parallel()
	now := time.Unix(1760000000, 0)
	for _, test := range []struct {
		name      string
		timestamp string
		now       time.Time
		want      bool
	}{
		{"299 s old", "1759999701", now, true},
		{"300 s old", "1759999700", now, true},
		{"300 s and 1 ms old", "1759999700", now.Add(time.Millisecond), false},
		{"300 s ahead", "1760000300", now, true},
		{"300 s and 1 ms ahead", "1760000300", now.Add(-time.Millisecond), false},
		{"far ahead", "1760100000", now, false},
		{"zero", "0", now, false},
		{"negative", "-1", now, false},
		{"too long for an integer", "99999999999999999999", now, false},
		{"a fraction", "1760000000.0", now, false},
		{"not a number", "now", now, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			header := fmt.Sprintf("t=%s,v1=%s", test.timestamp, digest(firstSecret, test.timestamp, "{}"))
			check(t, provider(t, nil).Verify(signed(header), []byte("{}"), test.now), test.want)
		})
	}
}

func TestAnyMatchingSignatureOfAnyLineWins(t *testing.T) {
	t.Parallel()
	const body = `{"id":"evt_1"}`
	good := "v1=" + digest(firstSecret, 1760000000, body)
	rolled := "v1=" + digest(secondSecret, 1760000000, body)
	other := "v1=" + strings.Repeat("deadbeef", 8)
	for _, test := range []struct {
		name  string
		lines []string
		want  bool
	}{
		{"none", nil, false},
		{"empty", []string{""}, false},
		{"right", []string{"t=1760000000," + good}, true},
		{"signature before the time", []string{good + ",t=1760000000"}, true},
		{"with a v0", []string{"t=1760000000," + good + ",v0=" + strings.Repeat("ab", 32)}, true},
		{"then one that is not hex", []string{"t=1760000000," + good + ",v1=potato"}, true},
		{"then a short one", []string{"t=1760000000," + good + ",v1=bad_signature"}, true},
		{"then a wrong one", []string{"t=1760000000," + good + "," + other}, true},
		{"after a wrong one", []string{"t=1760000000," + other + "," + good}, true},
		{"after a broken time", []string{"t=soon,t=1760000000," + good}, true},
		{"the second line", []string{"t=1760000000," + other, "t=1760000000," + good}, true},
		{"the first line", []string{"t=1760000000," + good, "t=1760000000," + other}, true},
		{"lines joined by a proxy", []string{"t=1759999990," + other + ", t=1760000000," + good}, true},
		{"spaces", []string{" t=1760000000 , " + good + " "}, true},
		{"of the retired secret", []string{"t=1760000000," + rolled}, false},
		{"only v0", []string{"t=1760000000,v0=" + good[3:]}, false},
		{"upper-case names", []string{"T=1760000000,V1=" + good[3:]}, false},
		{"without a time", []string{good}, false},
		{"without a signature", []string{"t=1760000000"}, false},
		{"of another time", []string{"t=1760000001," + good}, false},
		{"half of it", []string{"t=1760000000," + good[:35]}, false},
		{"with more behind it", []string{"t=1760000000," + good + "00"}, false},
		{"hex of a word", []string{"t=1760000000,v1=6465616462656566"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			check(t, provider(t, nil).Verify(signed(test.lines...), []byte(body), time.Unix(1760000000, 0)), test.want)
		})
	}
	for _, broken := range []string{"v1,t=1", "t=", "t,v1=,v0=", "t,v1=,v0", "t,v1=,", "t,,", ",,", "t", "=", "t=1760000000,v1="} {
		t.Run("broken "+broken, func(t *testing.T) {
			t.Parallel()
			check(t, provider(t, nil).Verify(signed(broken), []byte(body), time.Unix(1760000000, 0)), false)
		})
	}
}

func TestEverySecretIsTriedWhileOneIsRolled(t *testing.T) {
	t.Parallel()
	const body = `{"id":"evt_1"}`
	first, second := digest(firstSecret, 1760000000, body), digest(secondSecret, 1760000000, body)
	both := provider(t, secrets(firstSecret, secondSecret))
	only := provider(t, secrets(secondSecret))
	now := time.Unix(1760000000, 0)
	check(t, both.Verify(signed("t=1760000000,v1="+first), []byte(body), now), true)
	check(t, both.Verify(signed("t=1760000000,v1="+second), []byte(body), now), true)
	check(t, only.Verify(signed("t=1760000000,v1="+first+",v1="+second), []byte(body), now), true)
	check(t, only.Verify(signed("t=1760000000,v1="+first), []byte(body), now), false)
}

// A flood of entries must not make us hash a large body once for each.
func TestEntriesBeyondTheBoundAreNotLookedAt(t *testing.T) {
	t.Parallel()
	good := ",t=1760000000,v1=" + digest(firstSecret, 1760000000, "{}")
	now := time.Unix(1760000000, 0)
	check(t, provider(t, nil).Verify(signed("v1=00"+strings.Repeat(",v1=00", 30)+good), []byte("{}"), now), true)
	check(t, provider(t, nil).Verify(signed("v1=00"+strings.Repeat(",v1=00", 31)+good), []byte("{}"), now), false)
	check(t, provider(t, nil).Verify(signed("t=1"+strings.Repeat(",t=1", 3)+good), []byte("{}"), now), false)
}

func FuzzVerify(f *testing.F) {
	p := provider(f, secrets(firstSecret, secondSecret))
	good := digest(firstSecret, 1760000000, "{}")
	f.Add("t=1760000000,v1="+good, "", "{}")
	f.Add("t=1760000000,v1=00", "v1="+good, "{}")
	f.Add("t=,v1=,v0", "t=99999999999999999999,v1=ff", "{}")
	f.Fuzz(func(t *testing.T, line, another, body string) {
		err := p.Verify(signed(line, another), []byte(body), time.Unix(1760000000, 0))
		if err != nil {
			if !errors.Is(err, payment.ErrSignature) {
				t.Fatalf("error %v, want ErrSignature", err)
			}
			return
		}
		// Nobody but the seeds knows a secret: what verifies must hold a right digest of just this body.
		all := strings.ToLower(line + another)
		for n := int64(1760000000 - 300); n <= 1760000000+300; n++ {
			for _, s := range []string{firstSecret, secondSecret} {
				if strings.Contains(all, digest(s, n, body)) {
					return
				}
			}
		}
		t.Fatalf("accepted %q %q for %q", line, another, body)
	})
}
