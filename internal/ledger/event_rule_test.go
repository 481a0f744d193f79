package ledger

import (
	"testing"

	"pgregory.net/rapid"

	"handover/internal/order"
)

// TestLedgerDecidesWhatAnEventStarts has one row for every answer of the rule and each way to it.
func TestLedgerDecidesWhatAnEventStarts(t *testing.T) {
	t.Parallel()
	const confirmed, pending = order.PaymentConfirmed, order.PaymentPending
	tests := []struct {
		name  string
		known known
		want  Next
	}{
		{"the first event of a session", known{EventNew: true, OrderNew: true, Payment: pending}, NextStart},
		{"its repetition while the first copy is handed over", known{Payment: pending}, NextStart},
		{"a second event before the first was handed over", known{EventNew: true, Payment: pending}, NextStartOrCheck},
		{"a stale event", known{waited: true, Payment: pending}, NextStartOrCheck},
		{"a left one whose order is known", known{waited: true, HandedOver: true, Payment: pending}, NextCheck},
		{"another event while the payment is open", known{EventNew: true, HandedOver: true, Payment: pending}, NextCheck},
		{"another event after a failure", known{EventNew: true, HandedOver: true, Payment: order.PaymentFailed}, NextCheck},
		{"another event of an ignored session", known{EventNew: true, HandedOver: true, Payment: order.PaymentIgnored}, NextCheck},
		{"another event while a person decides", known{EventNew: true, HandedOver: true, Payment: order.PaymentAttention}, NextCheck},
		{"the same event, not dispatched", known{HandedOver: true, Payment: pending}, NextCheck},
		{"the same event, dispatched, still pending", known{Dispatched: true, HandedOver: true, Payment: pending}, NextEnsure},
		{"the same event, dispatched, failed", known{Dispatched: true, HandedOver: true, Payment: order.PaymentFailed}, NextNothing},
		{"the same event, dispatched, ignored", known{Dispatched: true, HandedOver: true, Payment: order.PaymentIgnored}, NextNothing},
		{"the same event, dispatched, a person decides", known{Dispatched: true, HandedOver: true, Payment: order.PaymentAttention}, NextNothing},
		{"paid, work is open", known{EventNew: true, HandedOver: true, Payment: confirmed, Unfinished: true}, NextEnsure},
		{"paid, work is open, the same event", known{Dispatched: true, HandedOver: true, Payment: confirmed, Unfinished: true}, NextEnsure},
		{"paid and finished, another event", known{EventNew: true, HandedOver: true, Payment: confirmed}, NextNothing},
		{"paid and finished, the same event", known{Dispatched: true, HandedOver: true, Payment: confirmed}, NextNothing},
		{"paid and finished, a stale event", known{waited: true, HandedOver: true, Payment: confirmed}, NextNothing},
	}
	for _, test := range tests {
		if got := test.known.next(); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestNothingIsStartedTwiceAndNothingIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := known{
			EventNew: rapid.Bool().Draw(t, "event new"), OrderNew: rapid.Bool().Draw(t, "order new"), Dispatched: rapid.Bool().Draw(t, "dispatched"),
			HandedOver: rapid.Bool().Draw(t, "handed over"), Unfinished: rapid.Bool().Draw(t, "unfinished"), waited: rapid.Bool().Draw(t, "waited"),
			Payment: rapid.SampledFrom([]order.PaymentState{
				order.PaymentPending, order.PaymentConfirmed, order.PaymentFailed, order.PaymentIgnored, order.PaymentAttention,
			}).Draw(t, "payment"),
		}
		next := k.next()
		starts := next == NextStart || next == NextStartOrCheck
		if starts != !k.HandedOver {
			t.Fatalf("%+v: %q", k, next)
		}
		if k.HandedOver && k.Unfinished && k.Payment == order.PaymentConfirmed && next != NextEnsure {
			t.Fatalf("open work with %q: %+v", next, k)
		}
		if k.EventNew && k.Payment != order.PaymentConfirmed && next == NextNothing {
			t.Fatalf("a new event of an unpaid order changes nothing: %+v", k)
		}
		if k.Payment == order.PaymentConfirmed && next == NextCheck {
			t.Fatalf("a confirmed payment is looked at again: %+v", k)
		}
	})
}
