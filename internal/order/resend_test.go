package order_test

import (
	"testing"

	"pgregory.net/rapid"

	"handover/internal/order"
)

func TestResendIsDecided(t *testing.T) {
	t.Parallel()
	// sent is an order whose first email was accepted.
	sent := order.ResendFacts{
		Payment: order.PaymentConfirmed, Access: order.AccessGranted, Address: "alex@example.com", Generation: 1, Recipient: "alex@example.com",
	}
	with := func(change func(*order.ResendFacts)) order.ResendFacts {
		f := sent
		change(&f)
		return f
	}
	tests := []struct {
		name    string
		facts   order.ResendFacts
		outcome order.Outcome
		refusal order.Refusal
	}{
		{"accepted before", sent, order.OutcomeSending, ""},
		{"unpaid", with(func(f *order.ResendFacts) { f.Payment = order.PaymentPending }), order.OutcomeRefused, order.RefusedUnpaid},
		{"payment needs a person", with(func(f *order.ResendFacts) { f.Payment = order.PaymentAttention }), order.OutcomeRefused, order.RefusedUnpaid},
		{"payment failed", with(func(f *order.ResendFacts) { f.Payment = order.PaymentFailed }), order.OutcomeRefused, order.RefusedUnpaid},
		{"nothing of ours", with(func(f *order.ResendFacts) { f.Payment = order.PaymentIgnored }), order.OutcomeRefused, order.RefusedUnpaid},
		{"unknown", order.ResendFacts{}, order.OutcomeRefused, order.RefusedUnpaid},
		{"access on its way", with(func(f *order.ResendFacts) { f.Access = order.AccessPending }), order.OutcomeRefused, order.RefusedNoAccess},
		{"on hold", with(func(f *order.ResendFacts) { f.Access = order.AccessHeld }), order.OutcomeRefused, order.RefusedNoAccess},
		{"refunded", with(func(f *order.ResendFacts) { f.Access = order.AccessRevoked }), order.OutcomeRefused, order.RefusedNoAccess},
		{"access needs a person", with(func(f *order.ResendFacts) { f.Access = order.AccessAttention }), order.OutcomeRefused, order.RefusedNoAccess},
		{"no address", with(func(f *order.ResendFacts) { f.Address = "" }), order.OutcomeRefused, order.RefusedNoAddress},
		{"under way to the same address", with(func(f *order.ResendFacts) { f.Open = true }), order.OutcomeJoined, ""},
		{"not frozen yet", with(func(f *order.ResendFacts) { f.Open, f.Recipient = true, "" }), order.OutcomeJoined, ""},
		{"under way to another address", with(func(f *order.ResendFacts) { f.Open, f.Address = true, "kim@example.com" }), order.OutcomeSending, ""},
		{"stopped for want of an address", with(func(f *order.ResendFacts) { f.Recipient = "" }), order.OutcomeSending, ""},
		{"nothing was ever owed", with(func(f *order.ResendFacts) { f.Generation, f.Recipient = 0, "" }), order.OutcomeSending, ""},
		{"the last one", with(func(f *order.ResendFacts) { f.Generation = order.MostGenerations - 1 }), order.OutcomeSending, ""},
		{"one too many", with(func(f *order.ResendFacts) { f.Generation = order.MostGenerations }), order.OutcomeRefused, order.RefusedTooMany},
		{"joining the last one", with(func(f *order.ResendFacts) { f.Generation, f.Open = order.MostGenerations, true }), order.OutcomeJoined, ""},
	}
	for _, test := range tests {
		outcome, refusal := order.DecideResend(test.facts)
		if outcome != test.outcome || refusal != test.refusal {
			t.Errorf("%s: %s %q, want %s %q", test.name, outcome, refusal, test.outcome, test.refusal)
		}
	}
}

func TestNoResendReachesSomebodyWhoMayNotHaveIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := order.ResendFacts{
			Payment:    rapid.SampledFrom(payments).Draw(t, "payment"),
			Access:     rapid.SampledFrom(accesses).Draw(t, "access"),
			Address:    rapid.SampledFrom([]string{"", "alex@example.com", "kim@example.com"}).Draw(t, "address"),
			Generation: rapid.IntRange(0, order.MostGenerations).Draw(t, "generation"),
			Open:       rapid.Bool().Draw(t, "open"),
			Recipient:  rapid.SampledFrom([]string{"", "alex@example.com", "kim@example.com"}).Draw(t, "recipient"),
		}
		outcome, refusal := order.DecideResend(f)
		if (outcome == order.OutcomeRefused) != (refusal != order.RefusedNone) {
			t.Fatalf("%s with the refusal %q", outcome, refusal)
		}
		if refusal != order.RefusedNone && refusal.Message() == "" {
			t.Fatalf("%s is said in no words", refusal)
		}
		if outcome == order.OutcomeRefused {
			return
		}
		if f.Payment != order.PaymentConfirmed || f.Access != order.AccessGranted || f.Address == "" {
			t.Fatalf("%s for %+v", outcome, f)
		}
		if outcome == order.OutcomeJoined && !f.Open {
			t.Fatal("joined a message that is not on its way")
		}
		if outcome == order.OutcomeSending && f.Open && f.Recipient == f.Address {
			t.Fatal("a second message to the same address while one is on its way")
		}
	})
}
