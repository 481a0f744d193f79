package cli

import (
	"bytes"
	"testing"

	"handover/internal/order"
)

func TestRetryPrintsRefusalsWithTheirReasonOnStandardError(t *testing.T) {
	t.Parallel()
	retrying := retried{Order: "test/cs_test_a", Outcome: order.OutcomeRetrying}
	refused := retried{Order: "test/cs_test_b", Outcome: order.OutcomeRefused, Refusal: order.RefusedNothingStopped}
	for name, c := range map[string]struct {
		answers         []retried
		out, errs, fail string
	}{
		"one refused":       {[]retried{refused}, "", "", retrySentence(refused)},
		"one of two":        {[]retried{retrying, refused}, retrySentence(retrying) + "\n", retrySentence(refused) + "\n", "1 of 2 were refused"},
		"none refused":      {[]retried{retrying}, retrySentence(retrying) + "\n", "", ""},
		"nothing held back": {nil, "No order is held back by a fault in the settings.\n", "", ""},
	} {
		var out, errs bytes.Buffer
		var fail string
		if err := (&retryCommand{}).print(&console{out: &out, errs: &errs}, c.answers); err != nil {
			fail = err.Error()
		}
		if out.String() != c.out || errs.String() != c.errs || fail != c.fail {
			t.Errorf("%s: standard output %q, standard error %q, error %q", name, out.String(), errs.String(), fail)
		}
	}
}
