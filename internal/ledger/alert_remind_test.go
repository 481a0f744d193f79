package ledger_test

import (
	"slices"
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
	ours, err := b.ClaimAlert(b.t.Context(), b.key, reason)
	b.must(err)
	if !ours {
		b.t.Fatal("notified twice")
	}
	if outcome != "" {
		b.must(b.AlertEnded(b.t.Context(), b.key, reason, outcome == "told"))
	}
	b.exec(`UPDATE alerts SET claimed_at = now() - make_interval(hours => $1), day = day - $1 / 24`, hours)
	return b
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
		"notified with another one of the settings": {func(b *env) {
			b.needs(order.ReasonEmailConfig, 30).another().alerted(order.ReasonEmailConfig, 5, "told")
		}, false},
		"needs nobody": {func(b *env) { b.pay().give().accept(1) }, false},
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
	reasons := map[order.Key]order.Reason{}
	var want []order.Key
	for i, hours := range []int{30, 300, 3} {
		reason := []order.Reason{order.ReasonEmailExhausted, order.ReasonEmailRefused, order.ReasonEmailUncertain}[i]
		o := b.another().needs(reason, hours)
		reasons[o.key] = reason
		want = append(want, o.key)
	}
	want = []order.Key{want[1], want[0]}
	listed, total, err := b.Unnotified(t.Context(), time.Hour, 2)
	b.must(err)
	got := make([]order.Key, len(listed))
	for i, w := range listed {
		got[i] = w.Key
		if w.Reason != reasons[w.Key] || time.Since(w.Since) < 29*time.Hour {
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
	b.must(b.AlertEnded(t.Context(), order.Key{}, order.ReasonStillWaiting, true))
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
