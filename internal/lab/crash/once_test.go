package crash_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

func TestTwentyCopiesAnotherEventAndAReplayAfterDeletionDeliverOnce(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Checkout(func(c *sandbox.Session) { c.Items[0].Quantity = 2 })
	for _, status := range s.Deliver(sandbox.EventRequest{Type: harness.Completed, Session: session, EventID: "evt_first", Copies: 20}).Statuses {
		if status != 200 {
			t.Errorf("a copy was answered %d", status)
		}
	}
	s.SettledOnce(session, 1)
	licenses := harness.Licenses(s.Message(session).Text)
	if len(licenses) != 2 {
		t.Fatalf("%d licence keys for two units", len(licenses))
	}
	run := newestRun(t, s, session)

	if status := s.Report(session, harness.Completed, "evt_second"); status != 200 {
		t.Fatalf("another event was answered %d", status)
	}
	if status := s.Report(session, harness.Completed, "evt_first"); status != 200 {
		t.Fatalf("a duplicate was answered %d", status)
	}
	if got := newestRun(t, s, session); got != run {
		t.Errorf("a duplicate that brings nothing new started run %s", got)
	}

	remove(t, s, session)
	if status := s.Report(session, harness.Completed, "evt_first"); status != 200 {
		t.Fatalf("the replay was answered %d", status)
	}
	if status := s.Report(session, harness.Completed, "evt_third"); status != 200 {
		t.Fatalf("a third event was answered %d", status)
	}
	if newestRun(t, s, session) != "" {
		t.Error("a finished order whose workflow was deleted got a new one")
	}
	s.SettledOnce(session, 1)
}

func TestTwoEventsOfOneSessionAtTheSameMomentDeliverOnce(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Checkout(nil)
	done := make(chan int, 10)
	for range 10 {
		go func() { done <- s.Report(session, harness.Completed, "") }()
	}
	for range 10 {
		if status := <-done; status != 200 {
			t.Errorf("an event was answered %d", status)
		}
	}
	s.SettledOnce(session, 1)
}

func TestResetToTheFirstTaskRepeatsNothing(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(nil)
	s.SettledOnce(session, 1)
	c := s.Temporal
	if err := c.SignalWorkflow(t.Context(), harness.WorkflowID(session), "", "resend", map[string]string{"reason": "spam folder"}); err != nil {
		t.Fatal(err)
	}
	s.AwaitAccepted(session, 2)
	s.SettledOnce(session, 2)
	before := s.Sandbox.Counts()
	licenses := harness.Licenses(s.Message(session).Text)

	run := reset(t, s, session)
	s.Eventually("the reset run listens", func() bool {
		state, err := c.QueryWorkflow(t.Context(), harness.WorkflowID(session), run, "state")
		var facts struct {
			Email      string `json:"email"`
			Generation int    `json:"generation"`
		}
		return err == nil && state.Get(&facts) == nil && facts.Email == "accepted" && facts.Generation == 2
	})
	after := s.Sandbox.Counts()
	if before.Emails.Accepted != after.Emails.Accepted || after.Emails.ByKey[harness.EmailKey(session, 1)].Calls != before.Emails.ByKey[harness.EmailKey(session, 1)].Calls {
		t.Errorf("the reset sent something again: %+v", after.Emails)
	}
	if before.Stripe.Retrieves[session] != after.Stripe.Retrieves[session] {
		t.Error("the reset read a confirmed payment again")
	}

	// A genuinely new request after the reset is carried out, and shows the same licence key.
	if err := c.SignalWorkflow(t.Context(), harness.WorkflowID(session), "", "resend", map[string]string{"reason": "still nothing"}); err != nil {
		t.Fatal(err)
	}
	s.AwaitAccepted(session, 3)
	s.SettledOnce(session, 3)
	if got := harness.Licenses(s.Message(session).Text); len(got) != 1 || got[0] != licenses[0] {
		t.Errorf("the licence key changed from one email to the next")
	}
}

func TestTerminateAndTheWebhookAgainRepeatsNothing(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	c := s.Temporal
	finished := s.Buy(nil)
	s.SettledOnce(finished, 1)
	if err := c.TerminateWorkflow(t.Context(), harness.WorkflowID(finished), "", "a test"); err != nil {
		t.Fatal(err)
	}
	s.Report(finished, harness.Completed, "")
	s.SettledOnce(finished, 1)

	// Terminated in the middle: access is given, the email is not. The next webhook finishes it, and grants nothing again.
	f := s.Fault(sandbox.Fault{Target: "resend.send", Mode: "refuse", Status: 500})
	half := s.Checkout(nil)
	s.Report(half, harness.Completed, "evt_half")
	s.AwaitFault("fired", f, 1)
	s.Eventually("access is given", func() bool { return s.Status(half).Access.State == order.AccessGranted })
	if err := c.TerminateWorkflow(t.Context(), harness.WorkflowID(half), "", "a test"); err != nil {
		t.Fatal(err)
	}
	s.Sandbox.ClearFaults()
	retrieves := s.Sandbox.Counts().Stripe.Retrieves[half]
	if status := s.Report(half, harness.Completed, "evt_half"); status != 200 {
		t.Fatalf("answered %d", status)
	}
	s.SettledOnce(half, 1)
	if got := s.Sandbox.Counts().Stripe.Retrieves[half]; got != retrieves {
		t.Errorf("the new run retrieved a confirmed payment: %d reads, before %d", got, retrieves)
	}
	if got := len(harness.Licenses(s.Message(half).Text)); got != 1 {
		t.Errorf("%d licence keys for one unit", got)
	}
}

// reset resets the order's newest run to its first workflow task, and returns the run that comes of it.
func reset(t *testing.T, s *crash.Shop, session string) string {
	t.Helper()
	answer, err := s.Temporal.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace:                 client.DefaultNamespace,
		WorkflowExecution:         &common.WorkflowExecution{WorkflowId: harness.WorkflowID(session), RunId: newestRun(t, s, session)},
		Reason:                    "a test",
		RequestId:                 uuid.NewString(),
		WorkflowTaskFinishEventId: firstTaskCompleted(t, s, session),
	})
	if err != nil {
		t.Fatal(err)
	}
	return answer.RunId
}

// newestRun is the ID of the order's newest run, empty when Temporal knows none.
func newestRun(t *testing.T, s *crash.Shop, session string) string {
	t.Helper()
	described, err := s.Temporal.DescribeWorkflow(t.Context(), harness.WorkflowID(session), "")
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return described.WorkflowExecution.RunID
}

// remove deletes the workflow and waits until nothing of it is left.
func remove(t *testing.T, s *crash.Shop, session string) {
	t.Helper()
	_, err := s.Temporal.WorkflowService().DeleteWorkflowExecution(t.Context(), &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace:         client.DefaultNamespace,
		WorkflowExecution: &common.WorkflowExecution{WorkflowId: harness.WorkflowID(session)},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Eventually("the workflow is gone", func() bool { return newestRun(t, s, session) == "" })
}

func firstTaskCompleted(t *testing.T, s *crash.Shop, session string) int64 {
	t.Helper()
	for _, e := range s.History(session).Events {
		if e.EventType == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			return e.EventId
		}
	}
	t.Fatal("no workflow task was completed")
	return 0
}
