package order_test

import (
	"slices"
	"testing"

	"handover/internal/order"
)

func TestARetryOpensWhatHasStoppedAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		facts   order.RetryFacts
		steps   []order.Step
		outcome order.Outcome
		refusal order.Refusal
	}{
		{"the payment", order.RetryFacts{Payment: order.PaymentAttention}, []order.Step{"payment"}, order.OutcomeRetrying, ""},
		{"unknown items", order.RetryFacts{Payment: order.PaymentConfirmed, ItemsUnknown: true}, []order.Step{"payment"}, order.OutcomeRetrying, ""},
		{"the access", order.RetryFacts{Payment: order.PaymentConfirmed, Access: true}, []order.Step{"access"}, order.OutcomeRetrying, ""},
		{"a reversal and a change of access", order.RetryFacts{Payment: order.PaymentConfirmed, Reversal: true, AccessChange: true},
			[]order.Step{"reversal", "access_change"}, order.OutcomeRetrying, ""},
		{"the email", order.RetryFacts{Payment: order.PaymentConfirmed, Email: true, Address: "a@b.test"}, []order.Step{"email"}, order.OutcomeRetrying, ""},
		{"access and email", order.RetryFacts{Payment: order.PaymentConfirmed, Access: true, Email: true, Address: "a@b.test"},
			[]order.Step{"access", "email"}, order.OutcomeRetrying, ""},
		{"an email past its window", order.RetryFacts{Payment: order.PaymentConfirmed, Email: true, Address: "a@b.test", PastWindow: true},
			nil, order.OutcomeRefused, order.RefusedPastWindow},
		{"an email to nobody", order.RetryFacts{Payment: order.PaymentConfirmed, Email: true}, nil, order.OutcomeRefused, order.RefusedNoAddress},
		{"access, and an email past its window", order.RetryFacts{Payment: order.PaymentConfirmed, Access: true, Email: true, Address: "a@b.test", PastWindow: true},
			[]order.Step{"access"}, order.OutcomeRetrying, ""},
		{"a lost run", order.RetryFacts{Payment: order.PaymentConfirmed, Unfinished: true}, nil, order.OutcomeRetrying, ""},
		{"a finished order", order.RetryFacts{Payment: order.PaymentConfirmed, PastWindow: true}, nil, order.OutcomeRefused, order.RefusedNothingStopped},
	} {
		steps, outcome, refusal := order.DecideRetry(c.facts)
		if !slices.Equal(steps, c.steps) || outcome != c.outcome || refusal != c.refusal {
			t.Errorf("%s: %v, %s, %q; want %v, %s, %q", c.name, steps, outcome, refusal, c.steps, c.outcome, c.refusal)
		}
		if refusal != "" && refusal.Message() == "" {
			t.Errorf("%s: the refusal has no words", c.name)
		}
	}
}
