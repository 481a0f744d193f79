package dispatch_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"handover/internal/dispatch"
	"handover/internal/lab/stack/testenv"
	"handover/internal/ledger"
)

const (
	fromBefore = "reversal discarded: its sale is from before"
	joinedLate = "reversal attached to its order"
	noSessions = "reversal discarded: its payment has no session"
)

// refunded is a shop that has served its environment for an hour, with an event about the money of a payment that it does
// not know.
func refunded(t *testing.T, named string) *bench {
	t.Helper()
	b := ownBench(t, testenv.Temporal(t))
	b.must(b.ledger.StartSync(t.Context(), b.key.Environment))
	b.exec(`UPDATE sales_lists SET covered_from = now() - interval '1 hour'`)
	_, err := b.ledger.StoreEvent(t.Context(), ledger.WebhookEvent{
		Environment: b.key.Environment, ID: "evt_1", Type: "charge.refunded", Kind: "refund", Session: named, PaymentRef: "pi_1",
	})
	b.must(err)
	return b
}

// provider says of every payment that it is the session's, and counts how it was asked.
func (b *bench) provider(found dispatch.Found, failures int) (asked func() []string) {
	questions := make(chan string, 100)
	b.UseFinder(func(_ context.Context, _, named, ref string) (dispatch.Found, error) {
		questions <- named + " " + ref
		if failures--; failures >= 0 {
			return dispatch.Found{}, errors.New("away")
		}
		return found, nil
	})
	return func() (all []string) {
		for len(questions) > 0 {
			all = append(all, <-questions)
		}
		return all
	}
}

func TestReversalOfASaleFromBeforeStartsNothing(t *testing.T) {
	t.Parallel()
	for name, named := range map[string]string{"found by its payment": "", "named by the event": "cs_test_1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := refunded(t, named)
			b.age()
			asked := b.provider(dispatch.Found{Session: b.key.Session, Created: time.Now().Add(-2 * time.Hour)}, 0)
			b.loop()
			b.log.wait(t, fromBefore, 1)
			if b.started() || !b.marked("evt_1") {
				t.Errorf("started %v, set aside %v", b.started(), b.marked("evt_1"))
			}
			if got := asked(); len(got) != 1 || got[0] != named+" pi_1" {
				t.Errorf("the provider was asked %q", got)
			}
		})
	}
}

func TestReversalOfAMissedSaleIsReviewed(t *testing.T) {
	t.Parallel()
	for name, named := range map[string]string{"found by its payment": "", "named by the event": "cs_test_1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := refunded(t, named)
			b.age()
			b.provider(dispatch.Found{Session: b.key.Session, Created: time.Now().Add(-30 * time.Minute)}, 0)
			b.loop()
			b.log.wait(t, joinedLate, 1)
			for !b.marked("evt_1") {
				b.log.wait(t, joinedLate, 1)
			}
			if run := b.run(); !run.input.Known || len(run.signals) != 1 || run.signals[0].Payload != `{"about":"reversal","event":"evt_1"}` {
				t.Errorf("started %+v", run)
			}
		})
	}
}

func TestReversalOfAPaymentThatIsNoSessionsIsSetAside(t *testing.T) {
	t.Parallel()
	b := refunded(t, "")
	b.age()
	b.provider(dispatch.Found{}, 0)
	b.loop()
	b.log.wait(t, noSessions, 1)
	for !b.marked("evt_1") {
		b.log.wait(t, noSessions, 1)
	}
	if b.started() {
		t.Error("a run was started")
	}
}

// While the provider does not answer, whose sale it is stays open: nothing is delivered, and nothing is set aside.
func TestReversalWaitsWhileTheProviderDoesNotAnswer(t *testing.T) {
	t.Parallel()
	b := refunded(t, "cs_test_1")
	b.age()
	b.provider(dispatch.Found{Session: b.key.Session, Created: time.Now().Add(-2 * time.Hour)}, 1)
	b.loop()
	b.log.wait(t, "session of a reversal could not be retrieved", 1)
	if b.started() || b.marked("evt_1") {
		t.Errorf("started %v, set aside %v", b.started(), b.marked("evt_1"))
	}
	b.exec(`UPDATE webhook_events SET received_at = received_at - interval '3 hours'`) // when it is asked again
	b.log.wait(t, fromBefore, 1)
	if b.started() || !b.marked("evt_1") {
		t.Errorf("in the end: started %v, set aside %v", b.started(), b.marked("evt_1"))
	}
}
