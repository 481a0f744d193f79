package notify_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"handover/internal/email"
	"handover/internal/notify"
	"handover/internal/order"
)

// runs are what the ledger knows of the reconciliation and of the alerts about it.
type runs struct {
	last     time.Time
	away     error
	claimed  bool
	notified []bool
	stalled  []order.Key
	behind   bool
}

const progress = 2 * time.Hour

func (r *runs) ReconciledAt(context.Context) (time.Time, error) { return r.last, r.away }

func (r *runs) ClaimNotice(_ context.Context, reason order.Reason) (bool, error) {
	ours := !r.claimed && (reason == order.ReasonReconcileStopped || reason == order.ReasonListBehind)
	r.claimed = true
	return ours, r.away
}

func (r *runs) ClaimAlert(_ context.Context, reason order.Reason) (order.Alert, error) {
	if reason != order.ReasonNotProgressing || len(r.stalled) == 0 {
		return order.Alert{}, r.away
	}
	what := order.Alert{Reason: reason, Orders: len(r.stalled), References: []order.Reference{"HO-7K3M9QXT"}}
	r.stalled = nil
	return what, r.away
}

func (r *runs) Behind(_ context.Context, environments []string, _ time.Duration) ([]string, error) {
	if r.behind {
		return environments, nil
	}
	return nil, r.away
}

func (r *runs) AlertReasons(context.Context) ([]order.Reason, error) { return nil, r.away }

func (r *runs) MarkStalled(_ context.Context, age time.Duration) ([]order.Key, error) {
	if age != progress {
		return nil, nil
	}
	return r.stalled, r.away
}

func (r *runs) AlertEnded(_ context.Context, _ order.Reason, notified bool) error {
	r.notified = append(r.notified, notified)
	return nil
}

func TestTheOwnerIsNotifiedWhenTheReconciliationHasStopped(t *testing.T) {
	t.Parallel()
	const never = -1
	for name, c := range map[string]struct {
		ago, up  time.Duration // how long ago the last run was, and the start, at the time of the check
		notified bool
	}{
		"a run some minutes ago":                       {8 * time.Minute, 9 * time.Hour, false},
		"an hour ago":                                  {time.Hour, 9 * time.Hour, false},
		"more than an hour ago":                        {time.Hour + time.Second, 9 * time.Hour, true},
		"days ago, and the shop has just opened":       {72 * time.Hour, 19 * time.Minute, false},
		"days ago, and none since the shop has opened": {72 * time.Hour, 20 * time.Minute, true},
		"never, in the first hour":                     {never, 59 * time.Minute, false},
		"never, and the hour is over":                  {never, time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, box, now := &runs{}, &mailbox{}, at
			w := notify.NewWatchdog(p, owner(box), []string{"live"}, progress, slog.New(slog.DiscardHandler), func() time.Time { return now })
			now = at.Add(c.up)
			if c.ago != never {
				p.last = now.Add(-c.ago)
			}
			w.Check(t.Context())
			w.Check(t.Context()) // the second time, the owner was notified today
			want := 0
			if c.notified {
				want = 1
			}
			if len(box.taken) != want || len(p.notified) != want {
				t.Errorf("%d emails, %d outcomes; want %d", len(box.taken), len(p.notified), want)
			}
		})
	}
}

func owner(box *mailbox) *notify.Notifier {
	return notify.New(notify.Config{Emails: []string{"a@owner.test"}, Sender: box})
}

func TestAWatchdogLogsAnAlertThatFailedAndNothingElse(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	p, box, now := &runs{last: at}, &mailbox{refuse: &email.SendError{Status: 401}}, at
	w := notify.NewWatchdog(p, owner(box), []string{"live"}, progress, slog.New(slog.NewTextHandler(&log, nil)), func() time.Time { return now })
	now = at.Add(2 * time.Hour)
	p.away = errors.New("the database is away")
	w.Check(t.Context())
	if log.Len() > 0 || len(p.notified) > 0 {
		t.Errorf("without an answer of the database: %s", &log)
	}
	p.away = nil
	w.Check(t.Context())
	w.Check(t.Context())
	if n := strings.Count(log.String(), "reconciliation stopped"); n != 1 || !strings.Contains(log.String(), "owner could not be notified") {
		t.Errorf("said %d times that it has stopped:\n%s", n, &log)
	}
	if len(p.notified) != 1 || p.notified[0] {
		t.Errorf("outcomes %v, want one that failed", p.notified)
	}
	p.last = now
	w.Check(t.Context())
	if !strings.Contains(log.String(), "running again") {
		t.Errorf("the log does not say that it runs again:\n%s", &log)
	}
	old := &runs{last: at.Add(-9 * time.Hour)}
	nobody := notify.NewWatchdog(old, notify.New(notify.Config{}), nil, progress, slog.New(slog.DiscardHandler), func() time.Time { return now })
	now = now.Add(time.Hour)
	if nobody.Check(t.Context()); old.claimed {
		t.Error("an alert without a recipient is claimed")
	}
}

func TestTheOwnerIsNotifiedOfOrdersThatMakeNoProgress(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	p, box := &runs{last: at, stalled: []order.Key{{Environment: "live", Session: "cs_live_1"}}}, &mailbox{}
	w := notify.NewWatchdog(p, owner(box), []string{"live"}, progress, slog.New(slog.NewTextHandler(&log, nil)), func() time.Time { return at })
	w.Check(t.Context())
	w.Check(t.Context())
	if len(box.taken) != 1 || !strings.Contains(box.taken[0].Text, "HO-7K3M9QXT") || strings.Contains(box.taken[0].Text, "cs_live_1") {
		t.Errorf("emails: %v", box.taken)
	}
	if strings.Count(log.String(), "order makes no progress") != 1 {
		t.Errorf("log:\n%s", &log)
	}
}

func TestTheOwnerIsNotifiedOfAListThatIsNotRead(t *testing.T) {
	t.Parallel()
	p, box, now := &runs{last: at.Add(time.Hour), behind: true}, &mailbox{}, at
	w := notify.NewWatchdog(p, owner(box), []string{"live"}, progress, slog.New(slog.DiscardHandler), func() time.Time { return now })
	if w.Check(t.Context()); len(box.taken) != 0 {
		t.Error("right after the start, when nothing can have been read yet")
	}
	now = at.Add(time.Hour)
	w.Check(t.Context())
	w.Check(t.Context())
	if len(box.taken) != 1 || !strings.Contains(box.taken[0].Text, "Lost webhooks are not found") {
		t.Errorf("emails: %v", box.taken)
	}
}
