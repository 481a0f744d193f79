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
		{"the first event of a session", known{eventNew: true, orderNew: true, payment: pending}, NextStart},
		{"its repetition while the first copy is handed over", known{payment: pending}, NextStart},
		{"a second event before the first was handed over", known{eventNew: true, payment: pending}, NextStartOrCheck},
		{"an event that was left behind", known{waited: true, payment: pending}, NextStartOrCheck},
		{"a left one whose order is known", known{waited: true, handedOver: true, payment: pending}, NextCheck},
		{"another event while the payment is open", known{eventNew: true, handedOver: true, payment: pending}, NextCheck},
		{"another event after a failure", known{eventNew: true, handedOver: true, payment: order.PaymentFailed}, NextCheck},
		{"another event of an ignored session", known{eventNew: true, handedOver: true, payment: order.PaymentIgnored}, NextCheck},
		{"another event while a person decides", known{eventNew: true, handedOver: true, payment: order.PaymentAttention}, NextCheck},
		{"the same event, not dispatched", known{handedOver: true, payment: pending}, NextCheck},
		{"the same event, dispatched, still pending", known{dispatched: true, handedOver: true, payment: pending}, NextEnsure},
		{"the same event, dispatched, failed", known{dispatched: true, handedOver: true, payment: order.PaymentFailed}, NextNothing},
		{"the same event, dispatched, ignored", known{dispatched: true, handedOver: true, payment: order.PaymentIgnored}, NextNothing},
		{"the same event, dispatched, a person decides", known{dispatched: true, handedOver: true, payment: order.PaymentAttention}, NextNothing},
		{"paid, work is open", known{eventNew: true, handedOver: true, payment: confirmed, unfinished: true}, NextEnsure},
		{"paid, work is open, the same event", known{dispatched: true, handedOver: true, payment: confirmed, unfinished: true}, NextEnsure},
		{"paid and finished, another event", known{eventNew: true, handedOver: true, payment: confirmed}, NextNothing},
		{"paid and finished, the same event", known{dispatched: true, handedOver: true, payment: confirmed}, NextNothing},
		{"paid and finished, an event that was left behind", known{waited: true, handedOver: true, payment: confirmed}, NextNothing},
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
			eventNew: rapid.Bool().Draw(t, "event new"), orderNew: rapid.Bool().Draw(t, "order new"), dispatched: rapid.Bool().Draw(t, "dispatched"),
			handedOver: rapid.Bool().Draw(t, "handed over"), unfinished: rapid.Bool().Draw(t, "unfinished"), waited: rapid.Bool().Draw(t, "waited"),
			payment: rapid.SampledFrom([]order.PaymentState{
				order.PaymentPending, order.PaymentConfirmed, order.PaymentFailed, order.PaymentIgnored, order.PaymentAttention,
			}).Draw(t, "payment"),
		}
		next := k.next()
		starts := next == NextStart || next == NextStartOrCheck
		if starts != !k.handedOver {
			t.Fatalf("%+v: %q", k, next)
		}
		if k.handedOver && k.unfinished && k.payment == order.PaymentConfirmed && next != NextEnsure {
			t.Fatalf("open work with %q: %+v", next, k)
		}
		if k.eventNew && k.payment != order.PaymentConfirmed && next == NextNothing {
			t.Fatalf("a new event of an unpaid order changes nothing: %+v", k)
		}
		if k.payment == order.PaymentConfirmed && next == NextCheck {
			t.Fatalf("a confirmed payment is looked at again: %+v", k)
		}
	})
}
