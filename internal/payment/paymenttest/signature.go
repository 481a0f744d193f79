package paymenttest

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"handover/internal/order"
	"handover/internal/payment"
)

func (s Subject) signature(t *testing.T) {
	body := s.Event(Event{ID: "evt_1", Kind: payment.EventCheckout, Mode: order.Test, Session: s.Session(order.Test), Ref: s.Ref()})
	now := time.Unix(1_790_000_000, 0)
	first, second := s.Secrets[0], s.Secrets[1]
	both := []string{first, second}
	for _, test := range []struct {
		name    string
		secrets []string
		header  http.Header
		body    []byte
		want    bool
	}{
		{"right", both[:1], s.Sign(first, body, now), body, true},
		{"of the first of two", both, s.Sign(first, body, now), body, true},
		{"of the second of two", both, s.Sign(second, body, now), body, true},
		{"of a secret that copied with a line end", []string{" " + first + "\n"}, s.Sign(first, body, now), body, true},
		{"of another secret", both[:1], s.Sign(second, body, now), body, false},
		{"of another body", both[:1], s.Sign(first, append(bytes.Clone(body), ' '), now), body, false},
		{"a byte changed at the front", both[:1], s.Sign(first, body, now), flipped(body, 0), false},
		{"a byte changed in the middle", both[:1], s.Sign(first, body, now), flipped(body, len(body)/2), false},
		{"a byte changed at the end", both[:1], s.Sign(first, body, now), flipped(body, len(body)-1), false},
		{"a byte added", both[:1], s.Sign(first, body, now), append(bytes.Clone(body), '\n'), false},
		{"the body gone", both[:1], s.Sign(first, body, now), nil, false},
		{"no header", both, http.Header{}, body, false},
		{"a header without a value", both, emptied(s.Sign(first, body, now)), body, false},
		{"a header of nonsense", both, replaced(s.Sign(first, body, now), "zz,,=;%\x00"), body, false},
		{"a header cut short", both, shortened(s.Sign(first, body, now)), body, false},
		{"a header with more behind it", both, lengthened(s.Sign(first, body, now)), body, false},
		{"made with an empty key", both, s.Sign("", body, now), body, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := s.open(t, func(c *Settings) { c.Secrets = test.secrets })
			accepted(t, p.Verify(test.header, test.body, now), test.want)
		})
	}
	if s.Timestamped {
		for off, want := range map[time.Duration]bool{
			-301 * time.Second: false, -299 * time.Second: true, 299 * time.Second: true, 301 * time.Second: false,
		} {
			t.Run("signed "+off.String()+" from now", func(t *testing.T) {
				t.Parallel()
				accepted(t, s.open(t, nil).Verify(s.Sign(first, body, now.Add(off)), body, now), want)
			})
		}
	}
	for name, secrets := range map[string][]string{
		"no secret": {}, "an empty secret": {""}, "a secret of spaces": {" \n"}, "an empty one behind a right one": {first, ""},
		"a secret of one letter": {"q"},
	} {
		t.Run(name+" is refused at the start", func(t *testing.T) {
			t.Parallel()
			_, err := s.New(Settings{Mode: order.Test, Secrets: secrets})
			if err == nil || !strings.Contains(err.Error(), "webhook_secrets") {
				t.Errorf("error %v, want one that names webhook_secrets", err)
			}
		})
	}
}

func accepted(t *testing.T, err error, want bool) {
	t.Helper()
	switch {
	case want && err != nil:
		t.Errorf("refused: %v", err)
	case !want && !errors.Is(err, payment.ErrSignature):
		t.Errorf("error %v, want ErrSignature", err)
	}
}

func flipped(body []byte, at int) []byte {
	body = bytes.Clone(body)
	body[at] ^= 1
	return body
}

// mapped changes the value of every header that the provider adds.
func mapped(h http.Header, change func(string) string) http.Header {
	changed := http.Header{}
	for name, values := range h {
		for _, v := range values {
			changed.Add(name, change(v))
		}
	}
	return changed
}

func emptied(h http.Header) http.Header { return mapped(h, func(string) string { return "" }) }
func replaced(h http.Header, by string) http.Header {
	return mapped(h, func(string) string { return by })
}
func shortened(h http.Header) http.Header {
	return mapped(h, func(v string) string { return v[:len(v)-2] })
}
func lengthened(h http.Header) http.Header {
	return mapped(h, func(v string) string { return v + "00" })
}
