package crash_test

import (
	"encoding/json"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// reconciled is what starter reconcile prints.
type reconciled struct {
	Checked, Repaired, Ignored, Left int
	DryRun                           bool `json:"dry_run"`
	Environments                     map[string]struct {
		Checked, Repaired, Ignored, Left int
		Since                            time.Time
		CompleteUntil                    time.Time `json:"complete_until"`
	}
}

func runReconcile(t *testing.T, s *crash.Shop, code int, flags ...string) reconciled {
	t.Helper()
	out, errs, got := s.Command(append([]string{"reconcile", "--json"}, flags...)...)
	if got != code {
		t.Fatalf("starter reconcile ended with %d, want %d: %s%s", got, code, out, errs)
	}
	var r reconciled
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

func (r reconciled) is(t *testing.T, when string, checked, repaired, ignored, left int) {
	t.Helper()
	if r.Checked != checked || r.Repaired != repaired || r.Ignored != ignored || r.Left != left {
		t.Errorf("%s: %d checked, %d repaired, %d ignored, %d left; want %d, %d, %d, %d",
			when, r.Checked, r.Repaired, r.Ignored, r.Left, checked, repaired, ignored, left)
	}
}

// The endpoint was switched off for a day, and 200 buyers paid meanwhile. Some sessions of that day are not ours, some
// were not paid, and some were known.
func TestADayOfPaymentsNobodyToldOfIsDeliveredOnce(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	heard := s.Buy(nil)
	s.AwaitState(heard, order.CustomerReady)
	var times []time.Time
	for i := range 200 {
		times = append(times, time.Now().Add(-26*time.Hour+time.Duration(i)*7*time.Minute))
	}
	sold, err := s.Sandbox.CreateBatch(sandbox.Batch{Created: times, Session: sandbox.Session{
		Email: crash.BuyerEmail, Amount: 1900, Currency: "eur",
		Items: []sandbox.Item{{Price: "price_guide", Product: "prod_guide", Name: "The Guide", Quantity: 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	another := s.Checkout(func(c *sandbox.Session) { c.Items[0].Price, c.Items[0].Product = "price_course", "prod_course" })
	s.Checkout(func(c *sandbox.Session) { c.Mode = "subscription" })

	runReconcile(t, s, 0, "--since", "72h", "--dry-run").is(t, "dry run", 203, 200, 2, 0)
	if n := s.Sandbox.Counts().Emails.Accepted; n != 1 {
		t.Errorf("%d messages after the dry run, want the one of the order that was known", n)
	}
	began := time.Now()
	first := runReconcile(t, s, 0, "--since", "72h")
	first.is(t, "first run", 203, 200, 2, 0)

	for _, session := range sold {
		s.AwaitAccepted(session.ID, 1)
	}
	// Now nothing is under way any more, which a run would check as well.
	runReconcile(t, s, 0, "--since", "72h").is(t, "second run", 203, 0, 1, 0)
	for _, session := range []string{sold[0].ID, sold[99].ID, sold[199].ID, heard} {
		s.SettledOnce(session, 1)
	}
	if n := s.Sandbox.Counts().Emails.Accepted; n != 201 {
		t.Errorf("%d messages for 201 orders", n)
	}
	s.AwaitState(another, order.CustomerNotOurs) // a row, that can be replayed
	if e := first.Environments["test"]; e.CompleteUntil.Before(began) || e.Since.After(times[0]) {
		t.Errorf("since %s, complete until %s, began at %s", e.Since, e.CompleteUntil, began)
	}
}

// Without --since a pass goes from where the last one had been complete, however long ago that is, and not to before
// Handover was there. A pass that a provider breaks off does not count as complete.
func TestALongOutageIsCaughtUpFromWhereTheSalesWereComplete(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: "[steps.payment]\ncall_timeout = \"2s\"\n"})
	runReconcile(t, s, 0).is(t, "nothing sold", 0, 0, 0, 0)
	s.Exec(`UPDATE sales_lists SET covered_from = now() - interval '40 days', complete_until = now() - interval '30 days'`)
	ago := func(days int) time.Time { return time.Now().Add(-time.Duration(days) * 24 * time.Hour) }
	sold, err := s.Sandbox.CreateBatch(sandbox.Batch{Created: []time.Time{ago(50), ago(29), ago(3)}, Session: sandbox.Session{
		Email: crash.BuyerEmail, Amount: 1900, Currency: "eur",
		Items: []sandbox.Item{{Price: "price_guide", Product: "prod_guide", Name: "The Guide", Quantity: 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.Fault(sandbox.Fault{Target: "stripe.sessions", Mode: "refuse", Status: 401})
	refused := runReconcile(t, s, 1)
	refused.is(t, "while the provider refuses our key", 0, 0, 0, 0)
	if until := refused.Environments["test"].CompleteUntil; time.Since(until) < 29*24*time.Hour {
		t.Errorf("a pass that was refused counts as complete until %s", until)
	}
	s.Sandbox.ClearFaults()
	limited := s.Fault(sandbox.Fault{Target: "stripe.sessions", Mode: "rate_limit", Times: 1})

	began := time.Now()
	caught := runReconcile(t, s, 0)
	caught.is(t, "after the outage", 2, 2, 0, 0)
	s.AwaitFault("fired", limited, 1)
	for _, session := range sold[1:] {
		s.SettledOnce(session.ID, 1)
	}
	if until := caught.Environments["test"].CompleteUntil; until.Before(began) {
		t.Errorf("complete until %s, began at %s", until, began)
	}
	runReconcile(t, s, 0).is(t, "again", 0, 0, 0, 0)
}

// The schedule does the same by itself.
func TestTheScheduleFindsASaleNobodyToldOf(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Checkout(nil)
	trigger(t, s)
	s.SettledOnce(session, 1)
}

// trigger runs the schedule now. The worker makes it once it polls; a run that comes while another is open is skipped.
func trigger(t *testing.T, s *crash.Shop) {
	t.Helper()
	schedule := s.Schedule(t.Context())
	s.Eventually("no run of the schedule is open", func() bool {
		d, err := schedule.Describe(t.Context())
		return err == nil && len(d.Info.RunningWorkflows) == 0
	})
	s.Eventually("the schedule runs", func() bool { return schedule.Trigger(t.Context(), client.ScheduleTriggerOptions{}) == nil })
}

// What was refunded before any webhook reported it is not given away.
func TestAMissedSaleThatWasRefundedMeanwhileGivesNothing(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Checkout(nil)
	if _, err := s.Sandbox.Refund(sandbox.Refund{Session: session}); err != nil {
		t.Fatal(err)
	}
	runReconcile(t, s, 0, "--since", "72h").is(t, "the refunded sale", 1, 1, 0, 0)
	s.AwaitState(session, order.CustomerEnded)
	if o := s.Outcome(session); o.Grants != 0 || s.Sandbox.Counts().Emails.Accepted != 0 {
		t.Errorf("%d grants, %d messages", o.Grants, s.Sandbox.Counts().Emails.Accepted)
	}
}

// A run that is open may have missed the signal about a refund, as when an old worker took it. The ledger knows, and the
// schedule signals it again.
func TestARefundThatTheOpenRunHasNotHeardOfIsDealtWith(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(nil)
	s.AwaitState(session, order.CustomerReady)
	if _, err := s.Sandbox.Refund(sandbox.Refund{Session: session}); err != nil {
		t.Fatal(err)
	}
	s.Exec(`UPDATE orders SET reversal_due_at = now() - interval '1 hour'`)
	trigger(t, s)
	s.AwaitState(session, order.CustomerEnded)
}

// An operator who asks does not wait for what the schedule waits for, and a dry run counts the same.
func TestReconcileByHandFinishesARefundWhoseRunWasTerminated(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(nil)
	s.AwaitState(session, order.CustomerReady)
	if _, err := s.Sandbox.Refund(sandbox.Refund{Session: session}); err != nil {
		t.Fatal(err)
	}
	if err := s.Temporal.TerminateWorkflow(t.Context(), harness.WorkflowID(session), "", "a test"); err != nil {
		t.Fatal(err)
	}
	s.Exec(`UPDATE orders SET reversal_due_at = now() - interval '15 seconds'`)
	dry, wet := runReconcile(t, s, 0, "--dry-run"), runReconcile(t, s, 0)
	if dry.Repaired != 1 || wet.Repaired != 1 {
		t.Errorf("repaired %d, and in a dry run %d", wet.Repaired, dry.Repaired)
	}
	s.AwaitState(session, order.CustomerEnded)
}
