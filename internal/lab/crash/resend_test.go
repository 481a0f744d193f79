package crash_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

func TestResendFromTheCommandLineIsANewGenerationWhileOpenAndAfterClosing(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: "[orders]\nopen_for = \"1s\"\n"})
	session := s.Buy(nil)
	s.SettledOnce(session, 1)
	s.Eventually("the workflow has closed", func() bool {
		d, err := s.Temporal.DescribeWorkflow(t.Context(), harness.WorkflowID(session), "")
		return err == nil && d.WorkflowCloseTime != nil
	})
	retrieves := s.Sandbox.Counts().Stripe.Retrieves[session]
	out, errs, code := s.Command("resend", "test/"+session, "--reason", "asked by telephone")
	if code != 0 {
		t.Fatalf("resend ended %d:\n%s%s", code, out, errs)
	}
	if !strings.Contains(out, "generation 1") || !strings.Contains(out, "generation 2 was accepted") {
		t.Errorf("resend does not say what was known and what came of it:\n%s", out)
	}
	s.SettledOnce(session, 2)
	if got := s.Sandbox.Counts().Stripe.Retrieves[session]; got != retrieves {
		t.Errorf("the new run read a confirmed payment again")
	}

	out, errs, code = s.Command("resend", "test/"+session, "--to", "ada@elsewhere.test", "--reason", "mistyped", "--json")
	if code != 0 {
		t.Fatalf("resend --to ended %d:\n%s%s", code, out, errs)
	}
	var answer struct {
		Outcome, Email string
		Generation     int
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil || answer.Outcome != "sending" || answer.Generation != 3 || answer.Email != "accepted" {
		t.Errorf("resend --json answered (%v):\n%s", err, out)
	}
	if got := s.Message(session).To; len(got) != 1 || got[0] != "ada@elsewhere.test" {
		t.Errorf("the third email went to the wrong address")
	}
	first, _ := s.Link(s.Sandbox.Messages()[0])
	third, _ := s.Link(s.Message(session))
	if first != third {
		t.Error("a resend changed the buyer's link")
	}
	status, _, _ := s.Command("status", "test/"+session)
	if !strings.Contains(status, "asked by telephone") || strings.Contains(status, "ada@elsewhere.test") {
		t.Errorf("the status should show the reason and mask the address:\n%s", status)
	}
}

func TestResendIsRefusedBeforeThereIsSomethingToSend(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(func(c *sandbox.Session) { c.PaymentStatus = "unpaid" })
	s.AwaitState(session, order.CustomerProcessing)
	_, errs, code := s.Command("resend", "test/"+session, "--reason", "impatient")
	if code != 1 || !strings.Contains(errs, "payment is not confirmed") {
		t.Errorf("ended %d: %s", code, errs)
	}
	for _, c := range []struct {
		code int
		args []string
	}{
		{3, []string{"resend", "test/cs_test_unknown", "--reason", "x"}},
		{3, []string{"status", "test/cs_test_unknown"}},
		{2, []string{"status", "nonsense"}},
		{2, []string{"resend", "test/" + session}},
		{2, []string{"resend", "test/" + session, "--reason", "x", "--to", "not an address"}},
		{2, []string{"resend", "test/" + session, "--reason", "write to ada@buyer.test"}},
		{2, []string{"list", "--pending", "--ignored"}},
		{2, []string{"resend", "test/" + session, "--reason", "x", "--to", ""}},
		{2, []string{"list", "--email", " "}},
		{2, []string{"list", "--limit", "-1"}},
		{2, []string{"frobnicate"}},
	} {
		if _, errs, code := s.Command(c.args...); code != c.code {
			t.Errorf("%v ended %d, want %d: %s", c.args, code, c.code, errs)
		}
	}
	c := s.Temporal
	if err := c.SignalWorkflow(t.Context(), harness.WorkflowID(session), "", "resend", map[string]string{"reason": "impatient"}); err != nil {
		t.Fatal(err)
	}
	s.Eventually("the refusal is in the audit", func() bool {
		out, _, _ := s.Command("status", "test/"+session)
		return strings.Contains(out, "payment_not_confirmed") || strings.Contains(out, "payment not confirmed")
	})
	if got := s.Sandbox.Counts().Emails.Accepted; got != 0 {
		t.Errorf("%d messages for an unpaid order", got)
	}
}

func TestResendAsAnUpdateAnswersAndItsIdentityCounts(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(nil)
	s.SettledOnce(session, 1)
	c := s.Temporal
	update := func(id string, payload any) (answer struct {
		Outcome    string `json:"outcome"`
		Generation int    `json:"generation"`
	}, err error) {
		handle, err := c.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
			WorkflowID: harness.WorkflowID(session), UpdateName: "resend", UpdateID: id, Args: []any{payload},
			WaitForStage: client.WorkflowUpdateStageCompleted})
		if err == nil {
			err = handle.Get(t.Context(), &answer)
		}
		return answer, err
	}
	id := uuid.NewString()
	for range 2 {
		answer, err := update(id, map[string]string{"reason": "spam folder"})
		if err != nil || answer.Outcome != "sending" || answer.Generation != 2 {
			t.Fatalf("the update answered %+v, %v", answer, err)
		}
	}
	s.SettledOnce(session, 2)
	for name, payload := range map[string]any{
		"a plain text": "please", "a wrong type": map[string]int{"reason": 7}, "an unknown field": map[string]string{"reason": "x", "why": "y"},
		"an address": map[string]string{"reason": "x", "to": "ada@buyer.test"}, "no reason": map[string]string{},
	} {
		if _, err := update(uuid.NewString(), payload); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s was not refused: %v", name, err)
		}
	}
	s.SettledOnce(session, 2)
}

// Temporal reports to the sender of a malformed signal that it went, and drops it: so signals are read raw.
func TestASignalThatCannotBeReadIsRefusedVisibly(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(nil)
	s.SettledOnce(session, 1)
	c := s.Temporal
	for _, payload := range []any{"please", 7, map[string]int{"reason": 7}, map[string]string{"reason": "x", "to": "somebody"}} {
		if err := c.SignalWorkflow(t.Context(), harness.WorkflowID(session), "", "resend", payload); err != nil {
			t.Fatal(err)
		}
	}
	s.Eventually("all four are in the audit", func() bool {
		out, _, _ := s.Command("status", "test/"+session)
		return strings.Count(out, "refused payload_not_readable") == 3 && strings.Count(out, "refused address_in_payload") == 1
	})
	s.SettledOnce(session, 1)
}

func TestAResendJoinsOneToTheSameAddressAndSupersedesOneToAnother(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	s.Fault(sandbox.Fault{Target: "resend.send", Mode: "refuse", Status: 503, Match: "/email/1"})
	session := s.Buy(nil)
	s.Eventually("an attempt failed", func() bool {
		return s.Sandbox.Counts().Emails.ByKey[harness.EmailKey(session, 1)].Calls >= 1
	})
	s.Eventually("the access is given", func() bool { return s.Status(session).Access.State == order.AccessGranted })
	type answer struct {
		Outcome    string
		Generation int
	}
	joined := make(chan answer, 1)
	go func() {
		out, _, _ := s.Command("resend", "test/"+session, "--reason", "impatient", "--json")
		var a answer
		_ = json.Unmarshal([]byte(out), &a)
		joined <- a
	}()
	if got := <-joined; got.Outcome != "joined" || got.Generation != 1 {
		t.Errorf("a resend to the same address: %+v, want joined to generation 1", got)
	}
	began := time.Now()
	out, errs, code := s.Command("resend", "test/"+session, "--reason", "mistyped", "--to", "right@buyer.test")
	if code != 0 || !strings.Contains(out, "generation 2 was accepted") {
		t.Fatalf("a resend to another address ended %d after %s:\n%s%s", code, time.Since(began), out, errs)
	}
	s.AwaitState(session, order.CustomerReady)
	counts := s.Sandbox.Counts().Emails
	if got := counts.ByKey[harness.EmailKey(session, 1)].Accepted + counts.ByKey[harness.EmailKey(session, 2)].Accepted; got != 1 {
		t.Errorf("%d messages accepted, want the one to the right address", got)
	}
}

func TestTheBuyerMaySendItAgainWithinLimits(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(nil)
	s.SettledOnce(session, 1)
	again := func() int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.PublicURL+"/orders/test/"+session+"/resend", strings.NewReader(url.Values{}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Accept", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := again(); got != http.StatusOK {
		t.Fatalf("the first request was answered %d", got)
	}
	s.AwaitAccepted(session, 2)
	s.SettledOnce(session, 2)
	if got := again(); got != http.StatusTooManyRequests {
		t.Errorf("the second request within ten minutes was answered %d", got)
	}
	s.SettledOnce(session, 2)
}
