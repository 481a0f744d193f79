package paymenttest

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"handover/internal/order"
	"handover/internal/payment"
)

// Translated says what holds for any body, whoever wrote it: no panic, one kind of error and nothing beside it, and no
// event that names a session or an id that could not be one. Fuzz tests call it with what they made.
func Translated(t *testing.T, p payment.Provider, body []byte) {
	t.Helper()
	e, err := p.Translate(body)
	if err != nil {
		if !errors.Is(err, payment.ErrMalformed) || e != (payment.Event{}) {
			t.Fatalf("event %+v, error %v; want ErrMalformed alone\n%q", e, err, body)
		}
		return
	}
	kinds := []payment.EventKind{payment.EventCheckout, payment.EventRefund, payment.EventDispute, payment.EventOther}
	switch {
	case e.ID == "" || e.Type == "" || len(e.ID) > 255 || len(e.Type) > 255 || !slices.Contains(kinds, e.Kind):
	case (e.Kind == payment.EventCheckout) != (e.Session != ""):
	case e.Session != "" && !order.ValidSession(e.Session):
	case e.Mode != "" && e.Mode != order.Live && e.Mode != order.Test:
	case !printable(e.ID) || !printable(e.Type) || !printable(e.PaymentRef) || !printable(e.Account):
	default:
		return
	}
	t.Fatalf("event %+v\n%q", e, body)
}

func printable(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

const damagedBodies = 1000

// damaged reads bodies of every kind that were damaged in ways that are the same each time.
func (s Subject) damaged(t *testing.T, p payment.Provider) {
	samples := s.samples()
	var bodies [][]byte
	for _, name := range slices.Sorted(maps.Keys(samples)) {
		bodies = append(bodies, s.Event(samples[name].Event))
	}
	random := rand.New(rand.NewPCG(20, 26))
	refused := 0
	for n := range damagedBodies {
		body := bytes.Clone(bodies[n%len(bodies)])
		for range 1 + random.IntN(4) {
			body = damage(random, body)
		}
		Translated(t, p, body)
		if _, err := p.Translate(body); err != nil {
			refused++
		}
	}
	if refused == 0 || refused == damagedBodies {
		t.Errorf("%d of %d bodies were refused: the damage is not what was meant", refused, damagedBodies)
	}
}

// pieces are JSON where it is not expected.
var pieces = []string{
	"null", "true", "7", "-1", "1e999", `""`, `"\u0000"`, "[]", "{}", `{"id":`, `]`, `}`, `"`, `\`, ",", ":", "\xff", "\x00", `"id":"x",`,
	`"object":null,`, `"data":[],`, "\xef\xbb\xbf",
}

func damage(random *rand.Rand, body []byte) []byte {
	if len(body) == 0 {
		return []byte(pieces[random.IntN(len(pieces))])
	}
	at := random.IntN(len(body))
	end := min(len(body), at+1+random.IntN(20))
	switch random.IntN(6) {
	case 0:
		body[at] ^= byte(1 << random.IntN(8))
	case 1:
		return slices.Delete(body, at, end)
	case 2:
		return slices.Insert(body, at, []byte(pieces[random.IntN(len(pieces))])...)
	case 3:
		return slices.Replace(body, at, end, []byte(pieces[random.IntN(len(pieces))])...)
	case 4:
		return slices.Insert(body, at, bytes.Clone(body[at:end])...)
	case 5:
		if value := bytes.IndexByte(body[at:], ':'); value >= 0 { // another value for a field
			from := at + value + 1
			to := from + max(0, bytes.IndexAny(body[from:], ",}"))
			return slices.Replace(body, from, to, []byte(pieces[random.IntN(9)])...)
		}
	}
	return body
}
