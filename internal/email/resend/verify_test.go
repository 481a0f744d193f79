package resend_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"handover/internal/email"
)

// message are the three headers under a prefix, svix or webhook.
func message(prefix, id, timestamp string, signatures ...string) http.Header {
	h := http.Header{}
	h.Set(prefix+"-id", id)
	h.Set(prefix+"-timestamp", timestamp)
	for _, s := range signatures {
		h.Add(prefix+"-signature", s)
	}
	return h
}

func digest(secret, id, timestamp, body string) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func check(t *testing.T, id string, err error, want string) {
	t.Helper()
	if id != want {
		t.Errorf("id %q, want %q (error %v)", id, want, err)
	}
	if want == "" && !errors.Is(err, email.ErrSignature) || want != "" && err != nil {
		t.Errorf("error %v", err)
	}
}

// The message of the test suites of https://github.com/standard-webhooks/standard-webhooks, with what they expect of it.
func TestThePublishedMessageVerifies(t *testing.T) {
	t.Parallel()
	const (
		secret = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
		id     = "msg_p5jXN8AQM9LWM0D4loKWxJek"
		stamp  = "1614265330"
		good   = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
		other  = "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc="
	)
	for _, test := range []struct {
		name   string
		header http.Header
		want   string
	}{
		{"svix headers", message("svix", id, stamp, good), id},
		{"webhook headers", message("webhook", id, stamp, good), id},
		{"no id", message("svix", "", stamp, good), ""},
		{"no timestamp", message("svix", id, "", good), ""},
		{"no signature", message("svix", id, stamp), ""},
		{"nothing", http.Header{}, ""},
		{"headers of both kinds mixed", http.Header{"Svix-Id": {id}, "Svix-Timestamp": {stamp}, "Webhook-Signature": {good}}, ""},
		{"another signature", message("svix", id, stamp, other), ""},
		{"an empty one", message("svix", id, stamp, "v1,"), ""},
		{"too short", message("svix", id, stamp, "v1,dawfeoifkpqwoekfpqoekf"), ""},
		{"another ending", message("svix", id, stamp, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLawdd"), ""},
		{"another last letter", message("svix", id, stamp, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OA="), ""},
		{"another spelling of the same bytes", message("svix", id, stamp, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OF="), ""},
		{"made with the secret's text as key", message("svix", id, stamp, "v1,ELhqG0Ku1gwOc1f4jyKdp3SFGFLAOdJ9bvpWLciCakI="), ""},
		{"a list", message("svix", id, stamp, other+" v2,"+other[3:]+" "+good+" "+other), id},
		{"beside a v1a", message("svix", id, stamp, good+" v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg=="), id},
		{"two lines", message("svix", id, stamp, other, good), id},
		{"as v2", message("svix", id, stamp, "v2,"+good[3:]), ""},
		{"without a version", message("svix", id, stamp, good[3:]), ""},
		{"of another id", message("svix", "msg_other", stamp, good), ""},
		{"of another time", message("svix", id, "1614265331", good), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, s := range []string{"whsec_" + secret, " whsec_" + secret + "\n"} {
				got, err := provider(t, secrets(s)).Verify(test.header, []byte(`{"test": 2432232314}`), time.Unix(1614265330, 0))
				check(t, got, err, test.want)
			}
		})
	}
}

// The signatures were made with: openssl dgst -sha256 -mac HMAC -macopt hexkey:… -binary | base64
func TestTheKeyIsTheDecodedSecret(t *testing.T) {
	t.Parallel()
	const (
		decoded = "v1,5T7YLQ/5WVoPhEOlkSjSL2G+Yxj9XyUXfq+Wtg4RKxs="
		text    = "v1,SwNrajzRieJYZMEokyYtR9LRhgBJJ2DqLQr0Yq9ULdk=" // with the secret's text as key
		body    = `{"type": "email.sent"}`
	)
	now := time.Unix(1760000000, 0)
	for _, s := range []string{padded, "whsec_" + unpadded} {
		p := provider(t, secrets(s))
		id, err := p.Verify(message("svix", "msg_vector", "1760000000", decoded), []byte(body), now)
		check(t, id, err, "msg_vector")
		id, err = p.Verify(message("svix", "msg_vector", "1760000000", text), []byte(body), now)
		check(t, id, err, "")
		id, err = p.Verify(message("svix", "msg_vector", "1760000000", decoded), []byte(body+"\n"), now)
		check(t, id, err, "")
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
		{"now", "1760000000", now, true},
		{"300 s old", "1759999700", now, true},
		{"300 s and 1 ms old", "1759999700", now.Add(time.Millisecond), false},
		{"300 s ahead", "1760000300", now, true},
		{"301 s ahead", "1760000301", now, false},
		{"of the year 2000", "946684800", now, false},
		{"fractional", "1760000000.123", now, false},
		{"negative", "-1", now, false},
		{"too long for an integer", "99999999999999999999", now, false},
		{"not a number", "now", now, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			want := ""
			if test.want {
				want = "msg_1"
			}
			h := message("svix", "msg_1", test.timestamp, "v1,"+digest(padded, "msg_1", test.timestamp, "{}"))
			id, err := provider(t, nil).Verify(h, []byte("{}"), test.now)
			check(t, id, err, want)
		})
	}
}

func TestAnyConfiguredSecretWins(t *testing.T) {
	t.Parallel()
	old := message("svix", "msg_1", "1760000000", "v1,"+digest(retired, "msg_1", "1760000000", "{}"))
	now := time.Unix(1760000000, 0)
	id, err := provider(t, secrets(padded, retired)).Verify(old, []byte("{}"), now)
	check(t, id, err, "msg_1")
	id, err = provider(t, secrets(padded)).Verify(old, []byte("{}"), now)
	check(t, id, err, "")
}

func TestWithoutASecretEverythingIsRefused(t *testing.T) {
	t.Parallel()
	mac := hmac.New(sha256.New, nil) // what anybody could sign with an empty key
	mac.Write([]byte("msg_1.1760000000.{}"))
	h := message("svix", "msg_1", "1760000000", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	id, err := provider(t, secrets()).Verify(h, []byte("{}"), time.Unix(1760000000, 0))
	check(t, id, err, "")
}

func TestAnIDThatCannotBeStoredIsRefused(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"msg 1", "msg\x00", "msg_ü", strings.Repeat("m", 256)} {
		h := message("svix", id, "1760000000", "v1,"+digest(padded, id, "1760000000", "{}"))
		got, err := provider(t, nil).Verify(h, []byte("{}"), time.Unix(1760000000, 0))
		check(t, got, err, "")
	}
}

func FuzzVerify(f *testing.F) {
	p := provider(f, secrets(padded, retired))
	f.Add("msg_1", "1760000000", "v1,"+digest(padded, "msg_1", "1760000000", "{}"), "{}")
	f.Add("msg_1", "1760000000", "v1, v2,x v1,"+digest(retired, "msg_1", "1760000000", "{}"), "{}")
	f.Add("", "-1", ",", "")
	f.Fuzz(func(t *testing.T, id, timestamp, signatures, body string) {
		got, err := p.Verify(message("svix", id, timestamp, signatures), []byte(body), time.Unix(1760000000, 0))
		if err != nil {
			if !errors.Is(err, email.ErrSignature) || got != "" {
				t.Fatalf("id %q, error %v; want ErrSignature", got, err)
			}
			return
		}
		right := strings.Contains(signatures, digest(padded, id, timestamp, body)) ||
			strings.Contains(signatures, digest(retired, id, timestamp, body))
		if got != id || !right {
			t.Fatalf("accepted %q %q %q for %q as %q", id, timestamp, signatures, body, got)
		}
	})
}
