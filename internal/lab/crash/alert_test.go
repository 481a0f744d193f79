package crash_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"handover/internal/lab/crash"
	"handover/internal/lab/sandbox"
	"handover/internal/notify"
	"handover/internal/order"
)

func TestTheOwnerIsToldOnceForAnOrderAndOnceForAFaultInTheSettings(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	alerted := map[order.Reason][]notify.Alert{}
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var a notify.Alert
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
			t.Error(err)
		}
		mu.Lock()
		alerted[a.Reason] = append(alerted[a.Reason], a)
		mu.Unlock()
	}))
	t.Cleanup(hook.Close)
	count := func(reason order.Reason) int {
		mu.Lock()
		defer mu.Unlock()
		return len(alerted[reason])
	}
	s := crash.Open(t, crash.Options{Config: "[alerts]\nemail = [\"owner@shop.test\"]\nurl = \"" + hook.URL + "\"\n"})
	refused := s.Fault(sandbox.Fault{Target: "resend.send", Mode: "refuse", Status: 422, Name: "validation_error", Match: "/email/"})
	s.Buy(nil)
	s.Eventually("the owner knows of the first", func() bool { return count(order.ReasonEmailRefused) == 1 })
	second := s.Buy(nil)
	s.Eventually("the second email needs a person", func() bool { return s.Status(second).Email.State == order.EmailAttention })
	s.AwaitFault("fired", refused, 2)

	s.Sandbox.ClearFaults()
	s.Fault(sandbox.Fault{Target: "resend.send", Mode: "refuse", Status: 401, Name: "missing_api_key"})
	for range 3 {
		session := s.Buy(nil)
		s.Eventually("the email needs a person", func() bool { return s.Status(session).Email.State == order.EmailAttention })
	}
	s.Eventually("the owner knows of the fault", func() bool { return count(order.ReasonEmailConfig) == 1 })
	s.Sandbox.ClearFaults()
	if _, errs, code := s.Command("retry", "--misconfigured", "--reason", "fixed"); code != 0 {
		t.Fatalf("retry --misconfigured ended %d: %s", code, errs)
	}
	if _, errs, code := s.Command("resend", "test/"+second, "--reason", "fixed", "--to", "right@buyer.test"); code != 0 {
		t.Fatalf("resend ended %d: %s", code, errs)
	}
	s.AwaitState(second, order.CustomerReady)
	if count(order.ReasonEmailRefused) != 1 || count(order.ReasonEmailConfig) != 1 {
		t.Errorf("alerted in the end: %v", alerted)
	}
	owners := 0
	for _, m := range s.Sandbox.Messages() {
		if len(m.To) == 1 && m.To[0] == "owner@shop.test" {
			owners++
			if strings.Contains(m.Text, "buyer.test") || !strings.Contains(m.Text, "starter resend ") || strings.Contains(m.Text, "cs_test_") {
				t.Errorf("the owner's email:\n%s", m.Text)
			}
		}
	}
	if owners != 1 { // the one about the settings could not go: it is sent by POST
		t.Errorf("%d emails to the owner, want one for both refused orders", owners)
	}
}
