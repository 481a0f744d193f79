package activities_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"handover/activities"
	"handover/internal/lab/stack/testenv"
	"handover/internal/ledger"
	"handover/internal/notify"
	"handover/internal/order"
)

// runs stand for the orders' runs and for the events that no starter has handed over.
type runs struct {
	events []error // one for each waiting event: whether it goes
	grace  time.Duration
	nudged []order.Key
}

func (*runs) Running(context.Context, order.Key) (bool, error) { return true, nil }
func (*runs) Ensure(context.Context, order.Key) error          { return nil }
func (*runs) Review(context.Context, order.Key) error          { return nil }

func (r *runs) Replay(_ context.Context, key order.Key) error {
	r.nudged = append(r.nudged, key)
	return nil
}

func (r *runs) DispatchStale(_ context.Context, grace time.Duration, limit int) (handed, left int, err error) {
	r.grace = grace
	batch := r.events[:min(limit, len(r.events))]
	for i, err := range batch {
		if err != nil {
			r.events = r.events[i:]
			return i, len(batch) - i, err
		}
	}
	r.events = r.events[len(batch):]
	return len(batch), 0, nil
}

// reminded is an owner who keeps what was said.
type reminded struct {
	deaf   bool
	alerts []order.Alert
	told   [][]notify.Waiting
	total  int
}

func (*reminded) Configured() bool { return true }

func (r *reminded) Notify(_ context.Context, what order.Alert, _ time.Time) error {
	if r.deaf {
		return errors.New("no answer")
	}
	r.alerts = append(r.alerts, what)
	return nil
}

func (r *reminded) Remind(_ context.Context, longest []notify.Waiting, total int, _ time.Time) error {
	if r.deaf {
		return errors.New("no answer")
	}
	r.told, r.total = append(r.told, longest), total
	return nil
}

// pass runs one reconciliation over a ledger of its own.
func pass(t *testing.T, l *ledger.Ledger, r activities.Runs, owner activities.Owner) activities.ReconcileResult {
	t.Helper()
	a := activities.New(activities.Deps{Ledger: l, Runs: r, Owner: owner, Outcomes: &counted{}, Log: slog.New(slog.DiscardHandler)}, activities.Config{StuckAfter: 30 * time.Minute, AttentionAfter: 2 * time.Hour})
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(a)
	encoded, err := env.ExecuteActivity(a.Reconcile)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := env.ExecuteActivity(a.RemindOwner); err != nil {
		t.Fatal(err)
	}
	var result activities.ReconcileResult
	if err := encoded.Get(&result); err != nil {
		t.Fatal(err)
	}
	return result
}

func TestAPassHandsOverEventsThatNoStarterHas(t *testing.T) {
	t.Parallel()
	away := errors.New("Temporal is away")
	for name, c := range map[string]struct {
		events []error
		want   activities.ReconcileResult
		left   int
	}{
		"none":                 {nil, activities.ReconcileResult{}, 0},
		"some":                 {make([]error, 3), activities.ReconcileResult{Checked: 3, Repaired: 3}, 0},
		"many":                 {make([]error, 600), activities.ReconcileResult{Checked: 500, Repaired: 500}, 100},
		"one that does not go": {[]error{nil, away, nil}, activities.ReconcileResult{Checked: 3, Repaired: 1, Left: 2}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &runs{events: c.events}
			got := pass(t, ledger.New(testenv.Migrated(t)), r, notify.New(notify.Config{}))
			if diff := cmp.Diff(c.want, got); diff != "" || len(r.events) != c.left {
				t.Errorf("%d events are left; result (-want +got):\n%s", len(r.events), diff)
			}
			if r.grace < time.Minute {
				t.Errorf("events are taken out of the starters' hands after %s", r.grace)
			}
		})
	}
}

func TestAPassRemindsOnceADayOfWhatStillWaits(t *testing.T) {
	t.Parallel()
	pool := testenv.Migrated(t)
	l, owner := ledger.New(pool), &reminded{}
	var oldest order.Key
	for i := range 25 {
		key := order.Key{Environment: "test", Session: "cs_test_" + rand.Text()}
		if i == 0 {
			oldest = key
		}
		_, err := pool.Exec(t.Context(), `
WITH o AS (INSERT INTO orders (environment, session, payment) VALUES ($1, $2, 'confirmed'))
INSERT INTO attention (environment, session, step, reason, since) VALUES ($1, $2, 'email', $3, now() - make_interval(hours => $4))`, key.Environment, key.Session, order.ReasonEmailRefused, 72-i)
		if err != nil {
			t.Fatal(err)
		}
	}
	pass(t, l, &runs{}, owner)
	if len(owner.alerts) != 1 || owner.alerts[0].Orders != 25 || len(owner.alerts[0].References) != order.MostReferences || time.Since(owner.alerts[0].Since) < 71*time.Hour {
		t.Fatalf("of what nobody was notified of yet: %+v", owner.alerts)
	}
	if _, err := pool.Exec(t.Context(), `UPDATE alerts SET claimed_at = claimed_at - interval '2 days', day = day - 2`); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `UPDATE attention SET since = since - interval '10 days'`); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		pass(t, l, &runs{}, owner)
	}
	if len(owner.told) != 1 || len(owner.told[0]) != 20 || owner.total != 25 {
		t.Fatalf("%d reminders, of %d orders; want one of 25 that lists 20", len(owner.told), owner.total)
	}
	first := owner.told[0][0]
	v, err := l.Order(t.Context(), oldest)
	if err != nil {
		t.Fatal(err)
	}
	if first.Reference != v.Reference || first.Reason != order.ReasonEmailRefused || time.Since(first.Since) < 300*time.Hour {
		t.Errorf("the reminder begins with %+v", first)
	}
	if at, err := l.ReconciledAt(t.Context()); err != nil || at.IsZero() {
		t.Errorf("the pass is noted at %s, %v", at, err)
	}
	var outcome string
	read := func() {
		t.Helper()
		if err := pool.QueryRow(t.Context(), `SELECT coalesce(outcome, '') FROM alerts ORDER BY claimed_at DESC LIMIT 1`).Scan(&outcome); err != nil {
			t.Fatal(err)
		}
	}
	if read(); outcome != "told" {
		t.Errorf("the reminder is noted as %q", outcome)
	}
	owner.deaf = true
	if _, err := pool.Exec(t.Context(), `UPDATE alerts SET claimed_at = claimed_at - interval '1 day', day = day - 1`); err != nil {
		t.Fatal(err)
	}
	pass(t, l, &runs{}, owner)
	if read(); outcome != "failed" {
		t.Errorf("a reminder that did not go is noted as %q", outcome)
	}
}

// An open run is no proof of progress: what makes none is nudged after a while, and a person is asked after another.
func TestPassNudgesAndMarksWhatMakesNoProgress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		age            time.Duration
		nudged, marked bool
	}{
		"young":     {20 * time.Minute, false, false},
		"old":       {40 * time.Minute, true, false},
		"hours old": {3 * time.Hour, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := testenv.Migrated(t)
			l, owner, r := ledger.New(pool), &reminded{}, &runs{}
			key := order.Key{Environment: "test", Session: "cs_test_" + rand.Text()}
			if _, err := pool.Exec(t.Context(), `INSERT INTO orders (environment, session, created_at) VALUES ($1, $2, now() - $3::interval)`,
				key.Environment, key.Session, c.age); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				pass(t, l, r, owner)
			}
			if nudged := len(r.nudged) == 2; nudged != c.nudged || len(r.nudged) == 1 {
				t.Errorf("nudged %v", r.nudged)
			}
			v, err := l.Order(t.Context(), key)
			if marked := v.Reason == order.ReasonNotProgressing; err != nil || marked != c.marked {
				t.Errorf("reason %q, %v", v.Reason, err)
			}
			if alerted := len(owner.alerts) == 1; alerted != c.marked || len(owner.alerts) > 1 {
				t.Errorf("alerts %+v", owner.alerts)
			}
		})
	}
}

func TestAPassRemindsNobodyOfNothing(t *testing.T) {
	t.Parallel()
	pool := testenv.Migrated(t)
	owner := &reminded{}
	pass(t, ledger.New(pool), &runs{}, owner)
	var claims int
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM alerts`).Scan(&claims); err != nil {
		t.Fatal(err)
	}
	if len(owner.told) != 0 || claims != 0 {
		t.Errorf("%d reminders, %d claims", len(owner.told), claims)
	}
}
