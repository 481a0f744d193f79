package crash_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// Stripe reports one refund in three kinds of events, and nobody is promised all of them, once, or in order.
var refundKinds = []string{"refund.created", "charge.refunded", "refund.updated"}

// refundReport is the way in which one refund is reported.
type refundReport struct {
	name   string
	kinds  []string
	copies int
	atOnce bool
}

func refundReports() (all []refundReport) {
	for _, a := range refundKinds {
		all = append(all, refundReport{name: "only " + a, kinds: []string{a}}, refundReport{name: "only " + a + ", ten times", kinds: []string{a}, copies: 10})
		for _, b := range refundKinds {
			for _, c := range refundKinds {
				if a != b && b != c && a != c {
					all = append(all, refundReport{name: strings.Join([]string{a, b, c}, ", ") + ", each twice", kinds: []string{a, b, c}, copies: 2})
				}
			}
		}
	}
	return append(all, refundReport{name: "all three at the same moment, five times each", kinds: refundKinds, copies: 5, atOnce: true})
}

// Waiting for the one event that does not come, or doing it once more for each that does, are the two ways to get a refund
// wrong. Access ends once, whichever events come, and nobody is written to.
func TestOneRefundEndsAccessOnceInWhateverEventsItIsTold(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	all := refundReports()
	sessions := make([]string, len(all))
	for i := range all {
		sessions[i] = s.Buy(holding(guide))
	}
	var calls sync.WaitGroup
	for i, how := range all {
		s.SettledOnce(sessions[i], 1)
		r, err := s.Sandbox.Refund(sandbox.Refund{Session: sessions[i]})
		must(t, err)
		groups := [][]string{how.kinds}
		if how.atOnce {
			groups = slices.Collect(slices.Chunk(how.kinds, 1))
		}
		for _, kinds := range groups {
			calls.Go(func() {
				taken(t)(s.Sandbox.DeliverRefund(t.Context(), r.ID, sandbox.MoneyEvents{Types: kinds, Copies: how.copies}))
			})
		}
	}
	calls.Wait()
	for i, how := range all {
		s.AwaitReviewed(sessions[i])
		t.Run(how.name, func(t *testing.T) {
			s := s.In(t)
			got := s.Outcome(sessions[i])
			if got.Buyer != order.CustomerEnded || got.Granted != 0 || got.Grants != 2 || len(got.Messages) != 1 {
				t.Errorf("in the end: %+v", got)
			}
			if n := s.AccessChanges(sessions[i]); n != 1 {
				t.Errorf("access was changed %d times, want once", n)
			}
		})
	}
}

// Two orders of one buyer for one product are two orders. A refund of one leaves the other, a third one is delivered, and
// an order whose workflow is long gone is found all the same.
func TestARefundEndsItsOwnOrderAndNoOther(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	first, second := s.Buy(holding(guide)), s.Buy(holding(guide))
	terminated, deleted := s.Buy(holding(guide)), s.Buy(holding(guide))
	for _, session := range []string{first, second, terminated, deleted} {
		s.SettledOnce(session, 1)
	}
	must(t, s.Temporal.TerminateWorkflow(t.Context(), harness.WorkflowID(terminated), "", "a test"))
	remove(t, s, deleted)
	for _, session := range []string{first, terminated, deleted} {
		refund(1, 0, "succeeded")(t, s, session)
	}
	for _, session := range []string{first, terminated, deleted} {
		s.AwaitReviewed(session)
		s.AwaitState(session, order.CustomerEnded)
	}
	s.SettledOnce(second, 1)
	if got := len(s.Status(second).Licenses); got != 1 {
		t.Errorf("the other order shows %d keys, want its one", got)
	}
	s.SettledOnce(s.Buy(holding(guide)), 1)

	// The sale reported once more gives nothing back.
	for _, session := range []string{first, terminated, deleted} {
		if status := s.Report(session, harness.Completed, ""); status != 200 {
			t.Errorf("the sale reported again was answered %d", status)
		}
	}
	s.SettledOnce(second, 1)
	for _, session := range []string{first, terminated, deleted} {
		if got := s.Outcome(session); got.Buyer != order.CustomerEnded || got.Granted != 0 || got.Grants != 2 || len(got.Messages) != 1 {
			t.Errorf("after the sale was reported again: %+v", got)
		}
	}
}

// What was paid back before any webhook reported the sale is never given.
func TestARefundThatComesBeforeItsSaleGivesNothing(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	for name, happens := range map[string]func(*testing.T, *crash.Shop, string){
		"refund": refund(1, 0, "succeeded"), "lost dispute": func(t *testing.T, s *crash.Shop, session string) {
			dispute("needs_response")(t, s, session)
			disputeIs("lost")(t, s, session)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.In(t)
			session := s.Checkout(holding(guide))
			happens(t, s, session)
			if got := s.Status(session).CustomerState; got != order.CustomerWaiting {
				t.Errorf("before the sale is reported the page says %s", got)
			}
			if status := s.Report(session, harness.Completed, ""); status != 200 {
				t.Fatalf("the sale was answered %d", status)
			}
			s.AwaitState(session, order.CustomerEnded)
			s.AwaitReviewed(session)
			if got := s.Sandbox.Counts().Emails.ByOrder["test/"+session]; got != 0 {
				t.Errorf("%d messages about what was paid back already", got)
			}
			if got := s.Outcome(session); got.Granted != 0 || got.Grants != 0 {
				t.Errorf("in the end: %+v", got)
			}
		})
	}
}

// The account's other business: payments that no checkout session made. Nothing of it is kept waiting for ever.
func TestARefundOfAPaymentThatIsNoSessionsIsTakenAndSetAside(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	body := func(kind, object string) string {
		return fmt.Sprintf(`{"id":"evt_%s","object":"event","type":%q,"livemode":false,"data":{"object":%s}}`, strings.ReplaceAll(kind, ".", "_"), kind, object)
	}
	for kind, object := range map[string]string{
		"charge.refunded":        `{"id":"ch_invoice","object":"charge","payment_intent":"pi_invoice","amount_refunded":500}`,
		"refund.created":         `{"id":"re_invoice","object":"refund","charge":"ch_invoice","payment_intent":null}`,
		"refund.failed":          `{"id":"re_none","object":"refund","charge":null,"payment_intent":null}`,
		"charge.dispute.created": `{"id":"du_invoice","object":"dispute","charge":"ch_invoice","payment_intent":"pi_invoice"}`,
	} {
		if got := s.Deliver(sandbox.EventRequest{Raw: body(kind, object)}).Statuses[0]; got != 200 {
			t.Errorf("%s was answered %d", kind, got)
		}
	}
	// Two minutes later: the provider is asked, and knows no session of these payments.
	s.Exec(`UPDATE webhook_events SET received_at = received_at - interval '2 minutes'`)
	s.Eventually("nothing waits for an order any more", func() bool {
		var waiting int
		must(t, s.Database().QueryRow(t.Context(), `SELECT count(*) FROM webhook_events WHERE payment_ref <> '' AND dispatched_at IS NULL`).Scan(&waiting))
		return waiting == 0
	})
	if orders, events := s.Heard(); orders != 0 || events != 4 {
		t.Errorf("%d orders and %d events, want none and 4", orders, events)
	}
}

// A starter dies with a refund in its hands that it has stored and not handed over, and one dies before it has stored it.
func TestAStarterKilledWithARefundInItsHandsLosesNothing(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: brisk, Failpoints: true, Sandbox: eager})
	stored, unstored := s.Buy(twoUnits), s.Buy(twoUnits)
	s.SettledOnce(stored, 1)
	s.SettledOnce(unstored, 1)
	var calls sync.WaitGroup
	for session, point := range map[string]string{stored: "webhook.stored", unstored: "webhook.before_store"} {
		r, err := s.Sandbox.Refund(sandbox.Refund{Session: session})
		must(t, err)
		s.Arm(point, 1)
		calls.Go(func() {
			_, err := s.Sandbox.DeliverRefund(t.Context(), r.ID, sandbox.MoneyEvents{Types: []string{"charge.refunded"}, Retry: point == "webhook.before_store"})
			if err != nil {
				t.Error(err)
			}
		})
		s.At(point)
	}
	s.Starter.Kill()
	calls.Wait()
	s.StartStarter()
	for _, session := range []string{stored, unstored} {
		s.AwaitState(session, order.CustomerEnded)
		s.AwaitReviewed(session)
		if got := s.Outcome(session); got.Granted != 0 || got.Grants != 3 || len(got.Messages) != 1 || s.AccessChanges(session) != 1 {
			t.Errorf("in the end, after %d changes: %+v", s.AccessChanges(session), got)
		}
	}
}

// way is a request that opened something before the money went back.
type way struct {
	name, method, url, bytes string
}

func ways(t *testing.T, s *crash.Shop, session string) []way {
	t.Helper()
	link, _ := s.Link(s.Message(session))
	page := s.PublicURL + "/orders/test/" + session
	byPage := s.PublicURL + s.Status(session).Downloads[0].URL
	byLink := link + strings.TrimPrefix(s.Status(session).Downloads[0].URL, "/orders/test/"+session+"/downloads")
	return []way{
		{"the emailed link", http.MethodGet, link, ""},
		{"the emailed link's file", http.MethodGet, byLink, ""},
		{"the first bytes of it", http.MethodGet, byLink, "bytes=0-3"},
		{"a download that goes on", http.MethodGet, byLink, "bytes=5-"},
		{"a HEAD of it", http.MethodHead, byLink, ""},
		{"the page's file", http.MethodGet, byPage, ""},
		{"a download from the page that goes on", http.MethodGet, byPage, "bytes=5-"},
		{"the page", http.MethodGet, page, ""},
	}
}

// Every address that the buyer has kept is dead at the next request, whole or in part, with nothing that a cache could
// answer instead; and the licence keys are shown nowhere.
func TestAfterARefundTheLinksThatWereKeptOpenNothing(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	refunded, disputed := s.Buy(holding(guide)), s.Buy(holding(guide))
	for session, c := range map[string]struct {
		happens func(*testing.T, *crash.Shop, string)
		refused int
		buyer   order.CustomerState
		says    string
	}{
		refunded: {refund(1, 0, "succeeded"), http.StatusGone, order.CustomerEnded, "Refunded: access has ended"},
		disputed: {dispute("needs_response"), http.StatusForbidden, order.CustomerOnHold, "On hold while the payment is being disputed"},
	} {
		s.SettledOnce(session, 1)
		keys := harness.Licenses(s.Message(session).Text)
		kept := ways(t, s, session)
		for _, w := range kept {
			if status, _, body := w.try(t); status >= 300 || w.method == http.MethodGet && body == "" {
				t.Fatalf("%s was answered %d before anything happened", w.name, status)
			}
		}
		c.happens(t, s, session)
		s.AwaitState(session, c.buyer)
		for _, w := range kept {
			status, header, body := w.try(t)
			want := c.refused
			if w.name == "the page" {
				want = http.StatusOK
			}
			if status != want || w.method == http.MethodGet && !strings.Contains(body, c.says) {
				t.Errorf("%s, %s: answered %d, want %d with %q", c.buyer, w.name, status, want, c.says)
			}
			if !strings.Contains(header.Get("Cache-Control"), "no-store") {
				t.Errorf("%s, %s: may be kept in a cache: %q", c.buyer, w.name, header.Get("Cache-Control"))
			}
			if strings.Contains(body, "%PDF") || slices.ContainsFunc(keys, func(key string) bool { return strings.Contains(body, key) }) {
				t.Errorf("%s, %s: still gives what was bought", c.buyer, w.name)
			}
		}
	}
}

func (w way) try(t *testing.T) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), w.method, w.url, nil)
	must(t, err)
	req.Header.Set("Accept", "text/html")
	if w.bytes != "" {
		req.Header.Set("Range", w.bytes)
	}
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, resp.Header, string(body)
}
