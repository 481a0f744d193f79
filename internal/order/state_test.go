package order_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"handover/internal/order"
)

var (
	payments   = []order.PaymentState{order.PaymentPending, order.PaymentConfirmed, order.PaymentFailed, order.PaymentIgnored, order.PaymentAttention}
	accesses   = []order.AccessState{order.AccessPending, order.AccessGranted, order.AccessHeld, order.AccessRevoked, order.AccessAttention}
	emails     = []order.EmailState{order.EmailPending, order.EmailAccepted, order.EmailUncertain, order.EmailAttention}
	deliveries = []order.Delivery{
		order.DeliveryNone, order.DeliverySent, order.DeliveryDelayed, order.DeliveryDelivered,
		order.DeliveryComplained, order.DeliverySuppressed, order.DeliveryFailed, order.DeliveryBounced,
	}
	customerStates = []order.CustomerState{
		order.CustomerWaiting, order.CustomerProcessing, order.CustomerFailed, order.CustomerPreparing, order.CustomerEmailPending,
		order.CustomerReady, order.CustomerBounced, order.CustomerOnHold, order.CustomerEnded, order.CustomerLooking, order.CustomerNotOurs,
	}
)

// TestBuyerIsToldTheState has one row for every combination that the page tells apart; those that it does not are
// covered by the properties below.
func TestBuyerIsToldTheState(t *testing.T) {
	t.Parallel()
	const granted = order.AccessGranted
	tests := []struct {
		facts order.Facts
		want  order.CustomerState
	}{
		{order.Facts{}, order.CustomerWaiting},
		{order.Pending(), order.CustomerWaiting},
		{order.Facts{Payment: order.PaymentPending, Processing: true}, order.CustomerProcessing},
		{order.Facts{Payment: order.PaymentFailed}, order.CustomerFailed},
		{order.Facts{Payment: order.PaymentFailed, Processing: true}, order.CustomerFailed},
		{order.Facts{Payment: order.PaymentIgnored}, order.CustomerNotOurs},
		{order.Facts{Payment: order.PaymentAttention}, order.CustomerLooking},
		{order.Facts{Payment: order.PaymentAttention, Processing: true}, order.CustomerLooking},

		{order.Facts{Payment: order.PaymentConfirmed}, order.CustomerPreparing},
		{order.Facts{Payment: order.PaymentConfirmed, Access: order.AccessPending}, order.CustomerPreparing},
		{order.Facts{Payment: order.PaymentConfirmed, Access: order.AccessHeld, Email: order.EmailAccepted}, order.CustomerOnHold},
		{order.Facts{Payment: order.PaymentConfirmed, Access: order.AccessRevoked, Email: order.EmailAccepted}, order.CustomerEnded},
		{order.Facts{Payment: order.PaymentConfirmed, Access: order.AccessAttention}, order.CustomerLooking},

		{order.Facts{Payment: order.PaymentConfirmed, Access: granted}, order.CustomerEmailPending},
		{order.Facts{Payment: order.PaymentConfirmed, Access: granted, Email: order.EmailPending}, order.CustomerEmailPending},
		{order.Facts{Payment: order.PaymentConfirmed, Access: granted, Email: order.EmailUncertain}, order.CustomerEmailPending},
		{order.Facts{Payment: order.PaymentConfirmed, Access: granted, Email: order.EmailAttention}, order.CustomerEmailPending},
		{order.Facts{Payment: order.PaymentConfirmed, Access: granted, Email: order.EmailPending, Delivery: order.DeliveryDelivered}, order.CustomerEmailPending},

		{order.Facts{Payment: order.PaymentConfirmed, Access: granted, Email: order.EmailAccepted}, order.CustomerReady},
		{order.Facts{Payment: order.PaymentConfirmed, Access: granted, Email: order.EmailAccepted, Delivery: order.DeliverySent}, order.CustomerReady},
		{order.Facts{Payment: order.PaymentConfirmed, Access: granted, Email: order.EmailAccepted, Delivery: order.DeliveryDelayed}, order.CustomerReady},
		{order.Facts{Payment: order.PaymentConfirmed, Access: granted, Email: order.EmailAccepted, Delivery: order.DeliveryDelivered}, order.CustomerReady},
		{order.Facts{Payment: order.PaymentConfirmed, Access: granted, Email: order.EmailAccepted, Delivery: order.DeliveryComplained}, order.CustomerReady},
		{order.Facts{Payment: order.PaymentConfirmed, Access: granted, Email: order.EmailAccepted, Delivery: order.DeliverySuppressed}, order.CustomerBounced},
		{order.Facts{Payment: order.PaymentConfirmed, Access: granted, Email: order.EmailAccepted, Delivery: order.DeliveryFailed}, order.CustomerReady},
		{order.Facts{Payment: order.PaymentConfirmed, Access: granted, Email: order.EmailAccepted, Delivery: order.DeliveryBounced}, order.CustomerBounced},
	}
	for _, test := range tests {
		if got := test.facts.CustomerState(); got != test.want {
			t.Errorf("%+v: the page says %s, want %s", test.facts, got, test.want)
		}
	}
}

func anyFacts() *rapid.Generator[order.Facts] {
	return rapid.Custom(func(t *rapid.T) order.Facts {
		return order.Facts{
			Payment:    rapid.SampledFrom(payments).Draw(t, "payment"),
			Processing: rapid.Bool().Draw(t, "processing"),
			Access:     rapid.SampledFrom(accesses).Draw(t, "access"),
			Email:      rapid.SampledFrom(emails).Draw(t, "email"),
			Delivery:   rapid.SampledFrom(deliveries).Draw(t, "delivery"),
		}
	})
}

func TestBuyerIsToldNothingFalse(t *testing.T) {
	t.Parallel()
	waiting := []order.CustomerState{order.CustomerWaiting, order.CustomerProcessing}
	offers := []order.CustomerState{order.CustomerEmailPending, order.CustomerReady, order.CustomerBounced}
	rapid.Check(t, func(t *rapid.T) {
		f := anyFacts().Draw(t, "facts")
		state := f.CustomerState()
		if !slices.Contains(customerStates, state) {
			t.Fatalf("%q is on no list", state)
		}
		if paid := f.Payment == order.PaymentConfirmed; paid && slices.Contains(waiting, state) {
			t.Fatalf("to somebody who has paid the page says %s", state)
		}
		mayOpen := f.Payment == order.PaymentConfirmed && f.Access == order.AccessGranted
		if mayOpen != slices.Contains(offers, state) {
			t.Fatalf("may open it: %v, and the page says %s", mayOpen, state)
		}
		if state == order.CustomerReady && (f.Email != order.EmailAccepted || f.Delivery.CameBack()) {
			t.Fatalf("the page says that the email was sent, with email %s and delivery %q", f.Email, f.Delivery)
		}
		if f.Payment == order.PaymentFailed && state != order.CustomerFailed {
			t.Fatalf("a failed payment is shown as %s", state)
		}
		needsPerson := f.Payment == order.PaymentAttention || f.Payment == order.PaymentConfirmed && f.Access == order.AccessAttention
		if needsPerson != (state == order.CustomerLooking) {
			t.Fatalf("a person must decide: %v, and the page says %s", needsPerson, state)
		}
	})
}

// TestPageWaitsOnlyForWhatComesByItself: a settled page stops asking, so nothing that is still to happen may be settled.
func TestPageWaitsOnlyForWhatComesByItself(t *testing.T) {
	t.Parallel()
	unsettled := []order.CustomerState{order.CustomerWaiting, order.CustomerProcessing, order.CustomerPreparing, order.CustomerEmailPending}
	for _, state := range customerStates {
		if got, want := state.Settled(), !slices.Contains(unsettled, state); got != want {
			t.Errorf("%s settled: %v, want %v", state, got, want)
		}
	}
}

func TestEvidenceIsRankedFromTheWeakestToTheStrongest(t *testing.T) {
	t.Parallel()
	if !slices.IsSortedFunc(deliveries, func(a, b order.Delivery) int { return a.Rank() - b.Rank() }) {
		t.Error("the list from the weakest to the strongest is not in the order of the ranks")
	}
	seen := map[int]order.Delivery{}
	for _, d := range deliveries {
		if other, taken := seen[d.Rank()]; taken {
			t.Errorf("%q and %q have the same rank: which one is shown would depend on their arrival", d, other)
		}
		seen[d.Rank()] = d
	}
	if order.Delivery("opened").Rank() != 0 {
		t.Error("a word that is not on the list counts as evidence")
	}
	if order.DeliveryBounced.Rank() < order.DeliveryDelivered.Rank() {
		t.Error("a bounce that follows a delivery is hidden by it")
	}
}
