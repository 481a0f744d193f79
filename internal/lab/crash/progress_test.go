package crash_test

import (
	"strings"
	"testing"

	"handover/internal/lab/crash"
	"handover/internal/order"
)

// impatientOrders ask for a person after seconds, and not after hours.
const impatientOrders = `
[orders]
stuck_after     = "1s"
attention_after = "2s"
[alerts]
email = ["owner@shop.test"]
`

// Without a worker an order has an open run and makes no progress: the starter marks it and notifies the owner, and the
// mark ends by itself when a worker is back.
func TestOrderThatMakesNoProgressIsMarkedWithoutAWorker(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: impatientOrders})
	s.Worker.Kill()
	session := s.Buy(nil)
	listed := func() bool {
		out, errs, code := s.Command("list", "--attention", "--json")
		if code != 0 {
			t.Errorf("list ended %d: %s", code, errs)
		}
		return strings.Contains(out, string(order.ReasonNotProgressing))
	}
	s.Eventually("the order needs attention", listed)
	s.Eventually("the owner knows", func() bool {
		for _, m := range s.Sandbox.Messages() {
			if strings.Contains(m.Subject, "makes no progress") {
				return true
			}
		}
		return false
	})
	s.StartWorker()
	s.SettledOnce(session, 1)
	if listed() {
		t.Error("it is done, and still on the list")
	}
}

// An open run that does not know of the work is no proof of progress: it is made to read the ledger again.
func TestOpenRunWithoutProgressIsNudged(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(nil)
	s.SettledOnce(session, 1)
	s.Exec(`UPDATE obligations SET finished_at = NULL, provider_id = NULL, created_at = now() - interval '1 hour' WHERE session = $1 AND kind = 'email'`, session)
	out, errs, code := s.Command("reconcile")
	if code != 0 || !strings.Contains(out, "1 did not move and were started or nudged") {
		t.Fatalf("reconcile ended %d: %s%s", code, out, errs)
	}
	s.Eventually("the email is accepted again, under its key", func() bool { return s.Status(session).Email.State == order.EmailAccepted })
	s.SettledOnce(session, 1)
}
