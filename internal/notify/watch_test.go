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

// passes are what the ledger knows of the reconciliation and of the alerts about it.
type passes struct {
	last    time.Time
	away    error
	claimed bool
	told    []bool
}

func (p *passes) ReconciledAt(context.Context) (time.Time, error) { return p.last, p.away }

func (p *passes) ClaimAlert(_ context.Context, key order.Key, reason order.Reason) (bool, error) {
	ours := !p.claimed && key == (order.Key{}) && reason == order.ReasonReconcileStopped
	p.claimed = true
	return ours, p.away
}

func (p *passes) AlertEnded(_ context.Context, _ order.Key, _ order.Reason, told bool) error {
	p.told = append(p.told, told)
	return nil
}

func TestTheOwnerIsToldWhenTheReconciliationHasStopped(t *testing.T) {
	t.Parallel()
	const never = -1
	for name, c := range map[string]struct {
		ago, up time.Duration // how long ago the last pass was, and the start, at the time of the check
		told    bool
	}{
		"a pass some minutes ago":                      {8 * time.Minute, 9 * time.Hour, false},
		"an hour ago":                                  {time.Hour, 9 * time.Hour, false},
		"more than an hour ago":                        {time.Hour + time.Second, 9 * time.Hour, true},
		"days ago, and the shop has just opened":       {72 * time.Hour, 19 * time.Minute, false},
		"days ago, and none since the shop has opened": {72 * time.Hour, 20 * time.Minute, true},
		"never, in the first hour":                     {never, 59 * time.Minute, false},
		"never, and the hour is over":                  {never, time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, box, now := &passes{}, &mailbox{}, at
			w := notify.NewWatch(p, owner(box), slog.New(slog.DiscardHandler), func() time.Time { return now })
			now = at.Add(c.up)
			if c.ago != never {
				p.last = now.Add(-c.ago)
			}
			w.Check(t.Context())
			w.Check(t.Context()) // the second time, somebody was told today
			want := 0
			if c.told {
				want = 1
			}
			if len(box.taken) != want || len(p.told) != want {
				t.Errorf("%d emails, %d outcomes; want %d", len(box.taken), len(p.told), want)
			}
		})
	}
}

func owner(box *mailbox) *notify.Notifier {
	return notify.New(notify.Config{Emails: []string{"a@owner.test"}, Sender: box})
}

func TestAWatchThatCannotTellSaysSoAndOneThatNeedNotIsSilent(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	p, box, now := &passes{last: at}, &mailbox{refuse: &email.SendError{Status: 401}}, at
	w := notify.NewWatch(p, owner(box), slog.New(slog.NewTextHandler(&log, nil)), func() time.Time { return now })
	now = at.Add(2 * time.Hour)
	p.away = errors.New("the database is away")
	w.Check(t.Context())
	if log.Len() > 0 || len(p.told) > 0 {
		t.Errorf("without an answer of the database: %s", &log)
	}
	p.away = nil
	w.Check(t.Context())
	w.Check(t.Context())
	if n := strings.Count(log.String(), "the reconciliation has stopped"); n != 1 || !strings.Contains(log.String(), "could not be told") {
		t.Errorf("said %d times that it has stopped:\n%s", n, &log)
	}
	if len(p.told) != 1 || p.told[0] {
		t.Errorf("outcomes %v, want one that failed", p.told)
	}
	p.last = now
	w.Check(t.Context())
	if !strings.Contains(log.String(), "running again") {
		t.Errorf("the log does not say that it runs again:\n%s", &log)
	}
	unheard := &passes{last: at.Add(-9 * time.Hour)}
	nobody := notify.NewWatch(unheard, notify.New(notify.Config{}), slog.New(slog.DiscardHandler), func() time.Time { return now })
	now = now.Add(time.Hour)
	if nobody.Check(t.Context()); unheard.claimed {
		t.Error("an alert is spent on nobody")
	}
}
