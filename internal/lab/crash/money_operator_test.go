package crash_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// said is what a deciding command prints with --json.
type said struct {
	Order, Outcome, Refusal string
	Generation              int
	Email                   string
}

// decides runs a deciding command twice over: once for people, as the test of its exit code, and once with --json.
func decides(t *testing.T, s *crash.Shop, code int, args ...string) said {
	t.Helper()
	out, errs, got := s.Command(append(args, "--json")...)
	if got != code {
		t.Errorf("%s ended %d, want %d:\n%s%s", strings.Join(args, " "), got, code, out, errs)
	}
	var answer said
	if err := json.Unmarshal([]byte(out), &answer); err != nil && code != 2 && code != 3 {
		t.Errorf("%s --json printed no answer (%v):\n%s", strings.Join(args, " "), err, out)
	}
	return answer
}

// The shop's owner ends and gives back by hand: at once, under the same keys and the same link, without an email, on
// record, and refused where it changes nothing.
func TestAnOperatorEndsGivesBackAndLinksAnew(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(holding(guide))
	s.SettledOnce(session, 1)
	key := "test/" + session
	first := s.Message(session)
	oldLink, _ := s.Link(first)

	if got := decides(t, s, 0, "revoke", key, "--reason", "sold by mistake"); got.Order != key || got.Outcome != "revoking" {
		t.Errorf("revoke answered %+v", got)
	}
	if status, _ := get(t, oldLink); status != http.StatusGone { // at once: the command waits until it is so
		t.Errorf("after revoke the link is answered %d", status)
	}
	s.AwaitState(session, order.CustomerEnded)
	for _, refused := range [][]string{
		{"revoke", key, "--reason", "once more"}, {"resend", key, "--reason", "nothing to send"}, {"relink", key, "--reason", "nothing to link"},
	} {
		if got := decides(t, s, 1, refused...); got.Outcome != "refused" || got.Refusal == "" {
			t.Errorf("%s of what has ended answered %+v", refused[0], got)
		}
	}
	// The sale reported once more does not overrule a person.
	s.Report(session, harness.Completed, "")

	if got := decides(t, s, 0, "restore", "--reason", "it was none", key); got.Order != key || got.Outcome != "restoring" {
		t.Errorf("restore answered %+v", got)
	}
	s.SettledOnce(session, 1)
	if _, page := get(t, oldLink); !strings.Contains(page, harness.Licenses(first.Text)[0]) {
		t.Error("after restore the link does not show the key that was sold")
	}
	orderPage := s.PublicURL + "/orders/" + key
	if _, page := get(t, orderPage); !strings.Contains(page, harness.Licenses(first.Text)[0]) {
		t.Error("after restore the order page does not show the key that was sold")
	}
	if got := decides(t, s, 1, "restore", key, "--reason", "again"); got.Outcome != "refused" {
		t.Errorf("restore of what is granted answered %+v", got)
	}

	if got := decides(t, s, 0, "relink", key, "--reason", "the link was published"); got.Outcome != "sending" || got.Generation != 2 || got.Email != "accepted" {
		t.Errorf("relink answered %+v", got)
	}
	s.SettledOnce(session, 2)
	newLink, _ := s.Link(s.Message(session))
	if status, _ := get(t, oldLink); status != http.StatusNotFound || newLink == oldLink {
		t.Errorf("after relink the old link is answered %d", status)
	}
	if _, page := get(t, orderPage); strings.Contains(page, harness.Licenses(first.Text)[0]) || strings.Contains(page, "/downloads/") {
		t.Error("after relink the order page still offers what was bought to whoever has the earlier email")
	}
	if opened(t, s, newLink) == "" {
		t.Error("the new link opens nothing")
	}
	if !slices.Equal(harness.Licenses(first.Text), harness.Licenses(s.Message(session).Text)) {
		t.Error("relink changed the licence keys")
	}

	status, _, _ := s.Command("status", key)
	for _, why := range []string{"sold by mistake", "it was none", "the link was published"} {
		if !strings.Contains(status, why) {
			t.Errorf("the status does not show %q:\n%s", why, status)
		}
	}
	for _, command := range []string{"revoke", "restore", "relink"} {
		decides(t, s, 2, command, key)                                                 // no reason
		decides(t, s, 2, command, "no-order-key", "--reason", "x")                     // no order
		decides(t, s, 3, command, "test/cs_test_nobodyheardof", "--reason", "unknown") // no such order
	}
}

// A part of the money names no item: a person is asked, and each of the two answers takes the order off the list.
func TestAPersonAnswersWhatAPartialRefundWasFor(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	kept, taken := s.Buy(holding(guide)), s.Buy(holding(guide))
	for _, session := range []string{kept, taken} {
		s.SettledOnce(session, 1)
		refund(1, 500, "succeeded")(t, s, session)
	}
	for _, session := range []string{kept, taken} {
		s.AwaitReviewed(session)
		if got := attention(t, s)["test/"+session]; got != order.ReasonRefundUnclear {
			t.Errorf("asked for the reason %q", got)
		}
	}
	decides(t, s, 0, "restore", "test/"+kept, "--reason", "a discount")
	decides(t, s, 0, "revoke", "test/"+taken, "--reason", "the guide was sent back")
	s.AwaitState(taken, order.CustomerEnded)
	s.SettledOnce(kept, 1)
	if left := attention(t, s); len(left) != 0 {
		t.Errorf("a person is still asked: %v", left)
	}
	// The rest of the money is new: it decides over what a person said before it came.
	refund(2, 0, "succeeded")(t, s, kept)
	s.AwaitState(kept, order.CustomerEnded)
}

// The provider does not say how a refund stands, since the key is wrong. Access stays as it is and a person is alerted; when
// the key is right again, retry goes on.
func TestARefundThatCannotBeReadIsHeldBackUntilRetry(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(holding(guide))
	s.SettledOnce(session, 1)
	for _, target := range []string{"stripe.payment_intent", "stripe.refunds"} {
		s.Fault(sandbox.Fault{Target: target, Mode: "refuse", Status: 401})
	}
	r, err := s.Sandbox.Refund(sandbox.Refund{Session: session})
	must(t, err)
	taken(t)(s.Sandbox.DeliverRefund(t.Context(), r.ID, sandbox.MoneyEvents{Types: []string{"charge.refunded"}})) // a second one would check again by itself
	s.Eventually("a person is asked", func() bool { return len(attention(t, s)) == 1 })
	if got := s.Status(session); got.Access.State != order.AccessGranted || got.CustomerState != order.CustomerReady {
		t.Errorf("access is %s and the page says %s, while nobody knows better", got.Access.State, got.CustomerState)
	}
	s.Sandbox.ClearFaults()
	out, errs, code := s.Command("retry", "--misconfigured", "--reason", "the key is right again", "--json")
	if code != 0 || !strings.Contains(out, `"retrying"`) || !strings.Contains(out, session) {
		t.Fatalf("retry ended %d:\n%s%s", code, out, errs)
	}
	s.AwaitState(session, order.CustomerEnded)
	if left := attention(t, s); len(left) != 0 {
		t.Errorf("a person is still asked: %v", left)
	}
}
