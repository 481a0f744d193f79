package paymenttest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/order"
	"handover/internal/payment"
)

// samples is one event of each kind, and what it has to be read as.
func (s Subject) samples() map[string]struct {
	Event
	want payment.Event
} {
	session, ref := s.Session(order.Test), s.Ref()
	samples := map[string]struct {
		Event
		want payment.Event
	}{}
	for _, e := range []Event{
		{Kind: payment.EventCheckout, Session: session, Ref: ref},
		{Kind: payment.EventRefund, Ref: ref},
		{Kind: payment.EventDispute, Ref: ref},
		{Kind: payment.EventOther},
	} {
		e.ID, e.Mode = "evt_"+string(e.Kind), order.Test
		sample := samples[string(e.Kind)]
		sample.Event = e
		sample.want = payment.Event{ID: e.ID, Kind: e.Kind, Mode: e.Mode, Session: e.Session, PaymentRef: e.Ref}
		samples[string(e.Kind)] = sample
	}
	return samples
}

func (s Subject) events(t *testing.T) {
	p := s.open(t, nil)
	for name, sample := range s.samples() {
		body := s.Event(sample.Event)
		t.Run(name+" is read", func(t *testing.T) {
			t.Parallel()
			got := translated(t, p, body)
			if got.Type == "" {
				t.Error("the event has no type")
			}
			got.Type = ""
			if diff := cmp.Diff(sample.want, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
		t.Run(name+" is the same when it comes again, and whatever else is in it", func(t *testing.T) {
			t.Parallel()
			want := translated(t, p, body)
			for _, again := range [][]byte{body, grown(t, body), append([]byte("\xef\xbb\xbf"), body...), append(body, '\n')} {
				if diff := cmp.Diff(want, translated(t, p, again)); diff != "" {
					t.Errorf("event (-want +got):\n%s\n%s", diff, again)
				}
			}
		})
	}
	t.Run("a type that is not known is another's", func(t *testing.T) {
		t.Parallel()
		got := translated(t, p, s.Event(Event{ID: "evt_1", Type: "zebra.striped", Mode: order.Test}))
		if got.Kind != payment.EventOther || got.Session != "" || got.Type != "zebra.striped" {
			t.Errorf("event %+v", got)
		}
	})
	t.Run("an event of the other mode says so", func(t *testing.T) {
		t.Parallel()
		for _, kind := range []payment.EventKind{payment.EventCheckout, payment.EventRefund, payment.EventDispute} {
			e := Event{ID: "evt_1", Kind: kind, Mode: order.Live, Ref: s.Ref()}
			if kind == payment.EventCheckout {
				e.Session = s.Session(order.Live)
			}
			if got := translated(t, p, s.Event(e)); got.Mode != order.Live {
				t.Errorf("%s: mode %q, want live", kind, got.Mode)
			}
		}
	})
	t.Run("malformed", func(t *testing.T) { t.Parallel(); s.malformed(t, p) })
	t.Run("a thousand damaged bodies", func(t *testing.T) { t.Parallel(); s.damaged(t, p) })
}

func translated(t *testing.T, p payment.Provider, body []byte) payment.Event {
	t.Helper()
	e, err := p.Translate(body)
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return e
}

// malformed are bodies that are well signed and not what any provider sends.
func (s Subject) malformed(t *testing.T, p payment.Provider) {
	checkout := Event{ID: "evt_1", Kind: payment.EventCheckout, Mode: order.Test, Session: s.Session(order.Test), Ref: s.Ref()}
	right := s.Event(checkout)
	with := func(session string) []byte { e := checkout; e.Session = session; return s.Event(e) }
	cases := map[string][]byte{
		"empty":                     nil,
		"null":                      []byte("null"),
		"a list":                    []byte("[]"),
		"a text":                    []byte(`"evt_1"`),
		"a number":                  []byte("7"),
		"half of it":                right[:len(right)/2],
		"two of them":               append(append([]byte{}, right...), right...),
		"something behind it":       append(append([]byte{}, right...), '['),
		"compressed":                []byte("\x1f\x8b\x08\x00\x00"),
		"a form":                    []byte("id=evt_1&type=x"),
		"an empty object":           []byte("{}"),
		"no session":                with(""),
		"a session of another kind": with("zz_1"),
		"a session that is a path":  with("../../x"),
		"a session with a line end": with(checkout.Session + "\n"),
		"a session that is long":    with(checkout.Session + strings.Repeat("a", 200)),
	}
	for _, field := range []string{s.IDField, s.TypeField} {
		for name, value := range map[string]any{
			"missing": nil, "a number": 7, "a list": []any{}, "an object": map[string]any{}, "empty": "", "true": true,
			"with a line end": "evt\n1", "too long": strings.Repeat("x", 300),
		} {
			cases[field+" "+name] = edited(t, right, func(o map[string]any) {
				o[field] = value
				if value == nil {
					delete(o, field)
				}
			})
		}
	}
	for name, body := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := p.Translate(body)
			if !errors.Is(err, payment.ErrMalformed) || e != (payment.Event{}) {
				t.Errorf("event %+v, error %v; want ErrMalformed alone", e, err)
			}
		})
	}
}

func edited(t *testing.T, body []byte, edit func(map[string]any)) []byte {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal(body, &o); err != nil {
		t.Fatal(err)
	}
	edit(o)
	changed, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}
