package crash_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/lab/stack/testenv"
	"handover/internal/ledger"
	"handover/internal/notify"
	"handover/internal/order"
)

// reconcile runs the reconciliation now and waits for the end of the pass.
func reconcile(t *testing.T, s *crash.Shop) {
	t.Helper()
	passes := func() int {
		d, err := s.Schedule(t.Context()).Describe(t.Context())
		if err != nil || len(d.Info.RunningWorkflows) > 0 {
			return -1
		}
		return d.Info.NumActions
	}
	before := -1
	s.Eventually("no run of the schedule is open", func() bool { before = passes(); return before >= 0 })
	trigger(t, s)
	s.Eventually("a pass has ended", func() bool { return passes() > before })
}

func TestTheOwnerIsRemindedOnceADayInOneMessage(t *testing.T) {
	t.Parallel()
	alerts := make(chan notify.Alert, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var a notify.Alert
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
			t.Error(err)
		}
		alerts <- a
	}))
	t.Cleanup(hook.Close)
	s := crash.Open(t, crash.Options{Config: "[alerts]\nurl = \"" + hook.URL + "\"\n"})
	s.Fault(sandbox.Fault{Target: "resend.send", Mode: "refuse", Status: 422, Name: "validation_error"})
	sessions := []string{s.Buy(nil), s.Buy(nil)}
	for _, session := range sessions {
		s.Eventually("the email needs a person", func() bool { return s.Status(session).Email.State == order.EmailAttention })
	}
	if a := <-alerts; a.Reason != order.ReasonEmailRefused {
		t.Fatalf("alerted of %+v", a)
	}
	reconcile(t, s)
	for _, sql := range []string{ // two days later
		`UPDATE attention SET since = since - interval '2 days'`,
		`UPDATE alerts SET claimed_at = claimed_at - interval '2 days', day = day - 2`,
	} {
		if _, err := s.Database().Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	reconcile(t, s)
	reconcile(t, s)
	reminder := <-alerts
	if reminder.Reason != order.ReasonStillWaiting || reminder.Orders != 2 || len(reminder.References) != 2 || reminder.Since == nil || len(alerts) != 0 {
		t.Fatalf("reminded by %+v, and %d more", reminder, len(alerts))
	}
}

// No starter runs, and its event is in the ledger: the worker's reconciliation hands it over.
func TestAnEventIsHandedOverWithoutAStarter(t *testing.T) {
	t.Parallel()
	url := testenv.Database(t)
	s := crash.Open(t, crash.Options{DatabaseURL: url})
	session := s.Checkout(nil)
	s.Starter.Stop()
	pool, err := ledger.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if _, err := ledger.New(pool).StoreEvent(t.Context(), ledger.WebhookEvent{
		Environment: "test", ID: "evt_left", Type: harness.Completed, Kind: "checkout", Session: session}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Database().Exec(t.Context(), `UPDATE webhook_events SET received_at = received_at - interval '10 minutes'`); err != nil {
		t.Fatal(err)
	}
	reconcile(t, s)
	s.AwaitAccepted(session, 1)
	s.StartStarter()
	s.SettledOnce(session, 1)
}
