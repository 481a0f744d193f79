package ledger_test

import (
	"slices"
	"testing"
	"time"

	"handover/internal/order"
)

// everyStep is every step that can stop, the most urgent first.
var everyStep = []order.Step{order.StepPayment, order.StepAccess, order.StepAccessChange, order.StepReversal, order.StepEmail}

// stuck puts the steps on the attention list that are not on it yet.
func (b *env) stuck(steps ...order.Step) *env {
	b.t.Helper()
	for _, step := range steps {
		_, err := b.pool.Exec(b.t.Context(), `
INSERT INTO attention (environment, session, step, reason) VALUES ($1, $2, $3, 'refund_not_retrievable') ON CONFLICT DO NOTHING`,
			b.key.Environment, b.key.Session, step)
		b.must(err)
	}
	return b
}

// waiting are the steps of the order that are on the attention list.
func (b *env) waiting() (steps []order.Step) {
	b.t.Helper()
	for _, s := range b.view().Attention {
		steps = append(steps, s.Step)
	}
	return steps
}

// A row ends with its own step: whatever has stopped besides stays on the list.
func TestAttentionEndsWithItsOwnStep(t *testing.T) {
	t.Parallel()
	stopEmail := func(b *env) {
		b.must(b.Stop(b.t.Context(), b.work(1), "", order.ClassUnknown, order.ReasonEmailUncertain))
	}
	for name, c := range map[string]struct {
		act  func(b *env)
		ends []order.Step
	}{
		"the email is accepted": {func(b *env) { b.stuck(everyStep...).accept(1) }, []order.Step{order.StepEmail}},
		"an event settles the email": {func(b *env) {
			stopEmail(b)
			b.stuck(everyStep...)
			if e := b.report(b.emailEvent("e", "1", b.message(1), order.DeliveryDelivered)); !e.Settled || !e.Ours {
				b.t.Errorf("the event: %+v", e)
			}
		}, []order.Step{order.StepEmail}},
		"the email is sent again": {func(b *env) { b.stuck(everyStep...).resend(b.request("r")) }, []order.Step{order.StepEmail}},
		"the reversal is read":    {func(b *env) { b.stuck(everyStep...).review(strict, order.ReversalFacts{}) }, []order.Step{order.StepReversal}},
		"the change is carried out": {func(b *env) {
			b.review(strict, order.ReversalFacts{Refunded: 1200}).stuck(everyStep...).change()
		}, []order.Step{order.StepAccessChange}},
		"a person revokes": {func(b *env) {
			b.stuck(everyStep...)
			_, err := b.Revoke(b.t.Context(), order.Request{Key: b.key, ID: "r", Kind: "revoke", Who: "alice", Why: "asked"}, strict)
			b.must(err)
		}, []order.Step{order.StepReversal, order.StepAccessChange}},
		"a person retries": {func(b *env) {
			stopEmail(b)
			b.stuck(everyStep...).retry("r")
		}, []order.Step{order.StepReversal, order.StepEmail}},
		"the payment is retrieved again": {func(b *env) { b.stuck(everyStep...).record(b.paid()) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newEnv(t)
			b.pay().give()
			c.act(b)
			want := slices.DeleteFunc(slices.Clone(everyStep), func(s order.Step) bool { return slices.Contains(c.ends, s) })
			if got := b.waiting(); !slices.Equal(got, want) {
				t.Errorf("%v are on the list, want %v", got, want)
			}
		})
	}
}

func TestTheMostUrgentStepIsTheReason(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	b.pay().give()
	b.must(b.Stop(t.Context(), b.work(1), "", order.ClassPermanent, order.ReasonEmailRefused))
	b.must(b.StopReversal(t.Context(), b.key, order.ClassExhausted, order.ReasonReversalUnread))
	v := b.view()
	if v.Reason != order.ReasonReversalUnread || v.Class != order.ClassExhausted || !slices.Equal(b.waiting(), []order.Step{order.StepReversal, order.StepEmail}) {
		t.Errorf("%q (%s) of %+v", v.Reason, v.Class, v.Attention)
	}
	if !v.AttentionAt.Equal(v.Attention[1].Since) {
		t.Errorf("it needs a person since %s, and the email stopped at %s", v.AttentionAt, v.Attention[1].Since)
	}
	// The same again: it has waited since the first time.
	b.must(b.StopReversal(t.Context(), b.key, order.ClassExhausted, order.ReasonReversalUnread))
	if again := b.view(); !again.Attention[0].Since.Equal(v.Attention[0].Since) {
		t.Errorf("stopped twice for one reason: since %s, and before since %s", again.Attention[0].Since, v.Attention[0].Since)
	}
	d := b.retry("r")
	if d.Outcome != order.OutcomeRetrying || d.Attention != "" {
		t.Errorf("a retry of both: %+v", d)
	}
}

func TestTheReminderNamesARefundThatNamesNoItem(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	b.pay().give().accept(1).review(strict, order.ReversalFacts{Refunded: 100})
	b.exec(`UPDATE attention SET since = now() - interval '3 days' WHERE session = $1`, b.key.Session)
	b.review(strict, order.ReversalFacts{Refunded: 100}) // the same again: it has waited since then
	listed, total, err := b.Unnotified(t.Context(), time.Hour, 10)
	b.must(err)
	if total != 1 || listed[0].Reason != order.ReasonRefundUnclear || time.Since(listed[0].Since) < 71*time.Hour {
		t.Errorf("%d in the reminder: %+v", total, listed)
	}
	b.must(b.StopReversal(t.Context(), b.key, order.ClassExhausted, order.ReasonReversalUnread))
	b.review(strict, order.ReversalFacts{Refunded: 100})
	if v := b.view(); v.Reason != order.ReasonRefundUnclear {
		t.Errorf("after a check that failed and one that did not: %q", v.Reason)
	}
}
