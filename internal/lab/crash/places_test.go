package crash_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// brisk makes a lost attempt come again soon: a call may take a second, and so an attempt six.
const brisk = `
[steps.payment]
first_wait   = "200ms"
call_timeout = "1s"
[steps.access]
first_wait   = "200ms"
call_timeout = "1s"
[steps.email]
first_wait   = "200ms"
call_timeout = "1s"
[steps.revoke]
first_wait   = "200ms"
call_timeout = "1s"
`

// place is a point at which a worker can die, and what has to have happened in the end. The names of the rows are those
// of docs/failure-modes.md.
type place struct {
	row, point string
	// prepare makes an order that comes to the point when asked to.
	prepare func(*testing.T, *crash.Shop) (session string, comes func())
	// want is the outcome when the worker dies or freezes there.
	want crash.Outcome
	// unsaved is the outcome when the worker lives on and the database is gone, and unreported when Temporal is; nil
	// where it is the same.
	unsaved, unreported *crash.Outcome
}

// places are in the reverse of the sequence in which an order comes by: the attempts of those that stand already do not
// come by the points that are armed for the ones that follow.
var places = []place{
	{row: "after access was ended, before that is reported", point: "revoke.done", prepare: refunded, want: ended()},
	{row: "before the change of access is claimed", point: "revoke.before_claim", prepare: refunded, want: ended()},
	{row: "in the middle of a refund", point: "revoke.recorded", prepare: refunded, want: ended()},
	{row: "after a resend was decided, before that is reported", point: "request.decided", prepare: resent, want: delivered(1, 1, 1)},
	{row: "after the email was saved, before that is reported", point: "email.finished", prepare: bought, want: delivered(1, 1)},
	{row: "after the email was accepted, before saving it", point: "email.answered", prepare: bought, want: delivered(1, 2),
		unreported: ptr(delivered(1, 1))},
	{row: "after a claim, before the remote call", point: "email.before_send", prepare: bought, want: delivered(1, 1),
		unsaved: ptr(delivered(1, 2))},
	{row: "after a claim that froze the message", point: "email.claimed", prepare: bought, want: delivered(1, 1),
		unsaved: ptr(delivered(1, 2))},
	{row: "before the email is claimed", point: "email.before_claim", prepare: bought, want: delivered(1, 1)},
	{row: "after the grant succeeded, before that is reported", point: "access.granted", prepare: bought, want: delivered(1, 1)},
	{row: "before access is claimed", point: "access.before_claim", prepare: bought, want: delivered(1, 1)},
	{row: "after payment was recorded, before that is reported", point: "payment.recorded", prepare: bought, want: delivered(1, 1)},
	{row: "after the session was read, before payment is recorded", point: "payment.retrieved", prepare: bought, want: delivered(2, 1),
		unreported: ptr(delivered(1, 1))},
	{row: "before payment is confirmed", point: "payment.before_retrieve", prepare: bought, want: delivered(1, 1),
		unsaved: ptr(delivered(2, 1))},
}

func ptr(o crash.Outcome) *crash.Outcome { return &o }

// delivered is the outcome of an order of the guide in two units: so many reads of the session, so many calls for each
// generation of the email.
func delivered(retrieves int, calls ...int) crash.Outcome {
	o := crash.Outcome{
		Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailAccepted, Buyer: order.CustomerReady,
		Granted: 3, Grants: 3, Complete: true, Retrieves: retrieves,
	}
	for _, n := range calls {
		o.Messages = append(o.Messages, crash.Sent{Calls: n, Accepted: 1, Bodies: 1})
	}
	return o
}

// ended is the outcome of an order that was delivered and then paid back in full.
func ended() crash.Outcome {
	o := delivered(1, 1)
	o.Access, o.Buyer, o.Granted = order.AccessRevoked, order.CustomerEnded, 0
	return o
}

// twoUnits are a download and two licence keys.
func twoUnits(c *sandbox.Session) { c.Items[0].Quantity = 2 }

// bought is an order that comes by on its straight path.
func bought(t *testing.T, s *crash.Shop) (string, func()) {
	session := s.Checkout(twoUnits)
	return session, func() {
		if status := s.Report(session, harness.Completed, ""); status != 200 {
			t.Fatalf("the webhook was answered %d", status)
		}
	}
}

// resent is a delivered order of which another email is asked for.
func resent(t *testing.T, s *crash.Shop) (string, func()) {
	session := s.Buy(twoUnits)
	s.SettledOnce(session, 1)
	return session, func() {
		if err := s.Temporal.SignalWorkflow(t.Context(), harness.WorkflowID(session), "", "resend", map[string]string{"reason": "spam folder"}); err != nil {
			t.Fatal(err)
		}
	}
}

// refunded is a delivered order whose money goes back.
func refunded(t *testing.T, s *crash.Shop) (string, func()) {
	session := s.Buy(twoUnits)
	s.SettledOnce(session, 1)
	return session, func() {
		refund, err := s.Sandbox.Refund(sandbox.Refund{Session: session})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Sandbox.DeliverRefund(t.Context(), refund.ID, sandbox.MoneyEvents{}); err != nil {
			t.Fatal(err)
		}
	}
}

// heldOrder is an order that is held at its place.
type heldOrder struct {
	place
	session string
	*harness.Held
}

// occupy brings one order to each place.
func occupy(t *testing.T, s *crash.Shop, places []place) []heldOrder {
	t.Helper()
	var all []heldOrder
	for _, p := range places {
		session, comes := p.prepare(t, s)
		s.Arm(p.point, 1)
		comes()
		all = append(all, heldOrder{p, session, s.At(p.point)})
	}
	return all
}

// checkAll waits until all orders have come to their ends, and compares each with what is wanted.
func checkAll(t *testing.T, s *crash.Shop, all []heldOrder) {
	t.Helper()
	for _, at := range all {
		s.AwaitOutcome(at.session, at.want)
	}
	for _, at := range all {
		t.Run(at.row+" ("+at.point+")", func(t *testing.T) {
			if diff := cmp.Diff(at.want, s.Outcome(at.session)); diff != "" {
				t.Errorf("in the end (-want +got):\n%s", diff)
			}
		})
	}
}
