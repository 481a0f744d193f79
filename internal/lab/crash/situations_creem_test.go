package crash_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"handover/internal/lab/crash"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// atCreem is an order of the shop's Creem environment as its page shows it.
func atCreem(t *testing.T, s *crash.Shop, checkout string) (status order.StatusJSON) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.PublicURL+"/orders/creem/"+checkout, nil)
	must(t, err)
	req.Header.Set("Accept", "application/json")
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	must(t, json.NewDecoder(resp.Body).Decode(&status))
	return status
}

// creemTurn is one thing that becomes true at Creem, the event that reports it, and what the buyer then sees.
type creemTurn struct {
	change, event string
	copies        int
	buyer         order.CustomerState
	opens         int // files and keys on the page
}

// creemFortunes are what can become of a checkout. Creem has one event for a refund and one for a chargeback, and none for
// what follows; what it has not reported is not known.
var creemFortunes = []struct {
	name   string
	sold   sandbox.Checkout
	turns  []creemTurn
	emails int
}{
	{"paid", sandbox.Checkout{}, []creemTurn{{"", "checkout.completed", 5, order.CustomerReady, 2}}, 1},
	{"three units, named by ids only", sandbox.Checkout{Units: 3, Bare: true}, []creemTurn{{"", "checkout.completed", 1, order.CustomerReady, 4}}, 1},
	{"nothing to pay", sandbox.Checkout{Free: true}, []creemTurn{{"", "checkout.completed", 1, order.CustomerReady, 2}}, 1},
	{"completed, and the order is paid later", sandbox.Checkout{Status: "processing"}, []creemTurn{
		{"", "checkout.completed", 1, order.CustomerProcessing, 0},
		{`{"status":"completed","order_status":"paid"}`, "checkout.completed", 1, order.CustomerReady, 2}}, 1},
	{"a subscription's", sandbox.Checkout{Recurring: true}, []creemTurn{{"", "checkout.completed", 1, order.CustomerNotOurs, 0}}, 0},
	{"refunded in full, reported five times", sandbox.Checkout{}, []creemTurn{
		{"", "checkout.completed", 1, order.CustomerReady, 2}, {`{"refunds":[{}]}`, "refund.created", 5, order.CustomerEnded, 0}}, 1},
	{"a part given back", sandbox.Checkout{}, []creemTurn{
		{"", "checkout.completed", 1, order.CustomerReady, 2}, {`{"refunds":[{"amount":400}]}`, "refund.created", 1, order.CustomerReady, 2}}, 1},
	{"a part, then the rest", sandbox.Checkout{}, []creemTurn{
		{"", "checkout.completed", 1, order.CustomerReady, 2}, {`{"refunds":[{"amount":400}]}`, "refund.created", 1, order.CustomerReady, 2},
		{`{"refunds":[{"amount":400},{"amount":810}]}`, "refund.created", 1, order.CustomerEnded, 0}}, 1},
	{"a refund that failed", sandbox.Checkout{}, []creemTurn{
		{"", "checkout.completed", 1, order.CustomerReady, 2}, {`{"refunds":[{"status":"failed"}]}`, "refund.created", 1, order.CustomerReady, 2}}, 1},
	{"charged back", sandbox.Checkout{}, []creemTurn{
		{"", "checkout.completed", 1, order.CustomerReady, 2}, {`{"dispute":"disp_1"}`, "dispute.created", 2, order.CustomerOnHold, 0}}, 1},
	{"refunded, and no webhook had reported the sale", sandbox.Checkout{}, []creemTurn{{`{"refunds":[{}]}`, "refund.created", 1, order.CustomerEnded, 0}}, 0},
}

func TestACheckoutAtCreemFollowsItsMoney(t *testing.T) {
	t.Parallel()
	s := openCreem(t)
	sold := make([]string, len(creemFortunes))
	for i, f := range creemFortunes {
		sold[i] = sellAtCreem(t, s, f.sold).ID
	}
	for n := range mostTurns {
		for i, f := range creemFortunes {
			if n >= len(f.turns) {
				continue
			}
			if turn := f.turns[n]; turn.change != "" {
				_, err := s.Sandbox.ChangeCheckout(sold[i], []byte(turn.change))
				must(t, err)
			}
			reportAtCreem(t, s, sandbox.CreemEvent{Type: f.turns[n].event, Checkout: sold[i], Copies: f.turns[n].copies})
		}
		for i, f := range creemFortunes {
			if n >= len(f.turns) {
				continue
			}
			turn := f.turns[n]
			t.Run(f.name+", "+turn.event, func(t *testing.T) {
				s := s.In(t)
				s.Eventually("the page says "+string(turn.buyer), func() bool {
					return atCreem(t, s, sold[i]).CustomerState == turn.buyer && (turn.event == "checkout.completed" || s.Reviewed(sold[i]))
				})
				if page := atCreem(t, s, sold[i]); page.CustomerState != turn.buyer || len(page.Downloads)+len(page.Licenses) != turn.opens {
					t.Errorf("the page says %s and opens %d; want %s and %d", page.CustomerState, len(page.Downloads)+len(page.Licenses), turn.buyer, turn.opens)
				}
			})
		}
	}
	for i, f := range creemFortunes {
		if got := s.Sandbox.Counts().Emails.ByOrder["creem/"+sold[i]]; got != f.emails {
			t.Errorf("%s: %d messages, want %d", f.name, got, f.emails)
		}
	}
	part := slices.IndexFunc(sold, func(id string) bool { return attention(t, s)["creem/"+id] == order.ReasonRefundUnclear })
	if part < 0 || creemFortunes[part].name != "a part given back" || len(attention(t, s)) != 1 {
		t.Errorf("a person is asked about %v, want the part that names no item", attention(t, s))
	}
}

// What anybody may send to the address, and what Creem sends of what is not ours.
func TestWhatCreemDidNotSignIsRefusedAndWhatIsNotOursIsTaken(t *testing.T) {
	t.Parallel()
	s := openCreem(t)
	sold := sellAtCreem(t, s, sandbox.Checkout{})
	live := sandbox.CreemEvent{Type: "checkout.completed", Object: json.RawMessage(`{"id":"ch_live","object":"checkout","mode":"prod"}`)}
	for name, c := range map[string]struct {
		event  sandbox.CreemEvent
		status int
	}{
		"another's secret":         {sandbox.CreemEvent{Type: "checkout.completed", Checkout: sold.ID, Secret: "whsec_another"}, 401},
		"the other mode":           {live, 400},
		"no JSON":                  {sandbox.CreemEvent{Raw: "["}, 400},
		"no event":                 {sandbox.CreemEvent{Raw: "{}"}, 400},
		"a subscription's event":   {sandbox.CreemEvent{Type: "subscription.paid", Object: json.RawMessage(`{"id":"sub_1","object":"subscription","mode":"test"}`)}, 200},
		"another environment":      {sandbox.CreemEvent{Type: "checkout.completed", Checkout: sold.ID, URL: s.PublicURL + "/webhooks/payments/nobody"}, 404},
		"signed, and for Stripe's": {sandbox.CreemEvent{Type: "checkout.completed", Checkout: sold.ID, URL: s.PublicURL + "/webhooks/payments/test"}, 401},
	} {
		d, err := s.Sandbox.DeliverCreem(t.Context(), c.event)
		must(t, err)
		if d.Statuses[0] != c.status {
			t.Errorf("%s: answered %d, want %d", name, d.Statuses[0], c.status)
		}
	}
	if orders, events := s.Heard(); orders != 0 || events != 1 {
		t.Errorf("%d orders of %d events, want none of the one that was taken", orders, events)
	}
}
