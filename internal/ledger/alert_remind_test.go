package ledger_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"handover/internal/order"
)

// needs has the order need a person since so many hours.
func (b *env) needs(reason order.Reason, hours int) *env {
	b.t.Helper()
	b.pay().give()
	b.must(b.Stop(b.t.Context(), b.work(1), "", order.ClassPermanent, reason))
	b.exec(`UPDATE attention SET since = now() - make_interval(hours => $2) WHERE session = $1`, b.key.Session, hours)
	return b
}

// alerted has the owner notified of the order so many hours ago; the outcome is empty when it was never recorded.
func (b *env) alerted(reason order.Reason, hours int, outcome string) *env {
	b.t.Helper()
	b.exec(`
INSERT INTO alerts (environment, session, reason, claimed_at, day, outcome)
VALUES ('test', $1, $2, now() - make_interval(hours => $3), (now() - make_interval(hours => $3))::date, nullif($4, ''))`, b.key.Session, reason, hours, outcome)
	return b
}

// Orders that need a person for one reason are one message in an hour, and a fault that was cleared and has come back is
// another.
func TestAlertsAreGroupedByReasonAndHour(t *testing.T) {
	t.Parallel()
	const refused = order.ReasonEmailRefused
	b := ownEnv(t)
	claim := func(when string, reason order.Reason, orders int) order.Alert {
		t.Helper()
		a, err := b.ClaimAlert(t.Context(), reason)
		if b.must(err); a.Orders != orders || len(a.References) != min(orders, order.MostReferences) || a.Since.IsZero() != (orders == 0) {
			t.Errorf("%s: %+v, want %d orders", when, a, orders)
		}
		return a
	}
	later := func() {
		b.exec(`UPDATE alert_messages SET claimed_at = claimed_at - interval '61 minutes'`)
		b.exec(`UPDATE alerts SET claimed_at = claimed_at - interval '61 minutes'`)
		b.exec(`UPDATE attention SET since = since - interval '61 minutes'`)
	}
	claim("nothing", refused, 0)
	first := b.another().needs(refused, 2)
	if a := claim("the first", refused, 1); a.References[0] != first.view().Reference {
		t.Errorf("named %v", a.References)
	}
	b.must(b.AlertEnded(t.Context(), refused, true))
	if n := b.count(`SELECT count(*) FROM alerts WHERE outcome = 'told'`); n != 1 {
		t.Errorf("%d orders are noted as notified, want the first", n)
	}
	claim("the same", refused, 0)
	for range 14 {
		b.another().needs(refused, 0)
	}
	claim("more within the hour", refused, 0)
	b.another().needs(order.ReasonEmailExhausted, 0)
	claim("another reason", order.ReasonEmailExhausted, 1)
	later()
	claim("an hour later", refused, 15)
	claim("at once again", refused, 0)
	later()
	claim("nothing new", refused, 0)
	b.exec(`DELETE FROM attention WHERE reason = $1`, refused)
	claim("cleared", refused, 0)
	b.another().needs(refused, 0)
	claim("it is back", refused, 1)
}

func TestNoticeAboutNoOrderIsOneADay(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	for i, want := range []bool{true, false} {
		if ours, err := b.ClaimNotice(t.Context(), order.ReasonReconcileStopped); err != nil || ours != want {
			t.Errorf("claim %d: %v, %v", i, ours, err)
		}
	}
}

func TestTheOwnerIsRemindedOfWhatWaitsUntold(t *testing.T) {
	t.Parallel()
	const refused = order.ReasonEmailRefused
	for name, c := range map[string]struct {
		order func(b *env)
		want  bool
	}{
		"notified a day ago":               {func(b *env) { b.needs(refused, 25).alerted(refused, 25, "told") }, true},
		"notified today":                   {func(b *env) { b.needs(refused, 30).alerted(refused, 5, "told") }, false},
		"notified of something else":       {func(b *env) { b.needs(refused, 30).alerted(order.ReasonEmailExhausted, 5, "told") }, true},
		"could not be notified":            {func(b *env) { b.needs(refused, 5).alerted(refused, 5, "failed") }, true},
		"the worker died while telling":    {func(b *env) { b.needs(refused, 5).alerted(refused, 5, "") }, true},
		"is being notified at this moment": {func(b *env) { b.needs(refused, 5).alerted(refused, 0, "") }, false},
		"was never notified":               {func(b *env) { b.needs(refused, 2) }, true},
		"is about to be notified":          {func(b *env) { b.needs(refused, 0) }, false},
		"needs nobody":                     {func(b *env) { b.pay().give().accept(1) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := ownEnv(t)
			c.order(b)
			listed, total, err := b.Unnotified(t.Context(), time.Hour, 10)
			b.must(err)
			if (total == 1) != c.want || len(listed) != total {
				t.Errorf("%d listed of %d; want it to be: %v", len(listed), total, c.want)
			}
		})
	}
}

func TestAReminderBeginsWithWhatHasWaitedLongest(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	reasons := map[order.Reference]order.Reason{}
	var want []order.Reference
	for i, hours := range []int{30, 300, 3} {
		reason := []order.Reason{order.ReasonEmailExhausted, order.ReasonEmailRefused, order.ReasonEmailUncertain}[i]
		o := b.another().needs(reason, hours)
		reference := o.view().Reference
		reasons[reference] = reason
		want = append(want, reference)
	}
	want = []order.Reference{want[1], want[0]}
	listed, total, err := b.Unnotified(t.Context(), time.Hour, 2)
	b.must(err)
	got := make([]order.Reference, len(listed))
	for i, w := range listed {
		got[i] = w.Reference
		if w.Reason != reasons[w.Reference] || time.Since(w.Since) < 29*time.Hour {
			t.Errorf("listed %+v", w)
		}
	}
	if !slices.Equal(got, want) || total != 3 {
		t.Errorf("listed %v of %d, want %v of 3", got, total, want)
	}
}

func TestThereIsOneReminderADay(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	claims := make([]bool, 5)
	errs := make([]error, len(claims))
	atOnce(len(claims), func(i int) { claims[i], errs[i] = b.ClaimReminder(t.Context()) })
	for _, err := range errs {
		b.must(err)
	}
	if n := len(slices.DeleteFunc(claims, func(ours bool) bool { return !ours })); n != 1 {
		t.Fatalf("%d reminders at the same moment, want one", n)
	}
	b.must(b.AlertEnded(t.Context(), order.ReasonStillWaiting, true))
	if n := b.count(`SELECT count(*) FROM alerts WHERE outcome = 'told'`); n != 1 {
		t.Errorf("%d reminders are recorded as sent", n)
	}
	for _, c := range []struct {
		hours int
		want  bool
	}{{23, false}, {1, true}, {0, false}} {
		b.exec(`UPDATE alerts SET claimed_at = claimed_at - make_interval(hours => $1), day = day - ($1 + 23) / 24`, c.hours)
		ours, err := b.ClaimReminder(t.Context())
		b.must(err)
		if ours != c.want {
			t.Errorf("%d hours later: %v, want %v", c.hours, ours, c.want)
		}
	}
}

// Two orders that stop at the same moment, each with a claim of its own, are one message.
func TestOrdersThatStopAtOnceAreOneAlert(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	for range 8 {
		b.another().needs(order.ReasonEmailRefused, 0)
	}
	var claims atomic.Int64
	var claiming sync.WaitGroup
	for range 8 {
		claiming.Go(func() {
			a, err := b.ClaimAlert(t.Context(), order.ReasonEmailRefused)
			if err != nil {
				t.Error(err)
			}
			if a.Orders > 0 {
				claims.Add(1)
			}
		})
	}
	claiming.Wait()
	if n := claims.Load(); n != 1 {
		t.Errorf("%d alerts, want one", n)
	}
}
