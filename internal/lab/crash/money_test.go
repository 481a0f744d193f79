package crash_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// moneyShop sells products under every policy: the guide and the birds of every shop end with the whole refund and wait
// during a dispute, a licence of the app ends with the part that can only be its own, and a print stays.
const moneyShop = `
[[products]]
id      = "app"
name    = "The App"
sold_as = ["price_app"]
refund  = "item"
access  = [ { kind = "license" } ]

[[products]]
id      = "print"
name    = "The Print"
sold_as = ["price_print"]
refund  = "keep"
dispute = "keep"
access  = [ { kind = "download", file = "guide.pdf" } ]
`

// What a session of the tests can hold, with the price of one unit.
var (
	guide  = sandbox.Item{Price: "price_guide", Product: "prod_guide", Name: "The Guide", Quantity: 1, Amount: 1900}
	birds  = sandbox.Item{Price: "price_of_birds", Product: "prod_birds", Name: "Vögel & Co", Quantity: 1, Amount: 900}
	app    = sandbox.Item{Price: "price_app", Product: "prod_app", Name: "The App", Quantity: 1, Amount: 900}
	prints = sandbox.Item{Price: "price_print", Product: "prod_print", Name: "The Print", Quantity: 1, Amount: 4000}
)

func times(i sandbox.Item, n int64) sandbox.Item { i.Quantity = n; return i }

// holding is a session of these lines, which costs what they do.
func holding(items ...sandbox.Item) func(*sandbox.Session) {
	return func(c *sandbox.Session) {
		c.Items, c.Amount = items, 0
		for _, i := range items {
			c.Amount += i.Amount * i.Quantity
		}
	}
}

// turn is one thing that happens to the money, and what the buyer sees once a webhook has reported it.
type turn struct {
	happens func(*testing.T, *crash.Shop, string)
	access  order.AccessState
	buyer   order.CustomerState
	opens   int          // files and licence keys that the buyer's page hands out
	reason  order.Reason // why a person is asked
}

func stays(happens func(*testing.T, *crash.Shop, string), opens int) turn {
	return turn{happens, order.AccessGranted, order.CustomerReady, opens, ""}
}

func ends(happens func(*testing.T, *crash.Shop, string)) turn {
	return turn{happens, order.AccessRevoked, order.CustomerEnded, 0, ""}
}

func holds(happens func(*testing.T, *crash.Shop, string)) turn {
	return turn{happens, order.AccessHeld, order.CustomerOnHold, 0, ""}
}

func asks(happens func(*testing.T, *crash.Shop, string), opens int) turn {
	return turn{happens, order.AccessGranted, order.CustomerReady, opens, order.ReasonRefundUnclear}
}

// moneyID is the id of an order's nth refund or dispute.
func moneyID(kind string, n int, session string) string {
	return fmt.Sprintf("%s_%d%s", kind, n, strings.TrimPrefix(session, "cs_test_"))
}

// refund gives an amount back, all that is left when it is 0, and reports it in the way that Stripe does.
func refund(n int, amount int64, status string) func(*testing.T, *crash.Shop, string) {
	return func(t *testing.T, s *crash.Shop, session string) {
		r, err := s.Sandbox.Refund(sandbox.Refund{ID: moneyID("re", n, session), Session: session, Amount: amount, Status: status})
		must(t, err)
		taken(t)(s.Sandbox.DeliverRefund(t.Context(), r.ID, sandbox.MoneyEvents{}))
	}
}

func refundIs(n int, status string) func(*testing.T, *crash.Shop, string) {
	return func(t *testing.T, s *crash.Shop, session string) {
		r, err := s.Sandbox.ChangeRefund(moneyID("re", n, session), status)
		must(t, err)
		taken(t)(s.Sandbox.DeliverRefund(t.Context(), r.ID, sandbox.MoneyEvents{}))
	}
}

func dispute(status string) func(*testing.T, *crash.Shop, string) {
	return func(t *testing.T, s *crash.Shop, session string) {
		d, err := s.Sandbox.Dispute(sandbox.Dispute{ID: moneyID("du", 1, session), Session: session, Status: status})
		must(t, err)
		taken(t)(s.Sandbox.DeliverDispute(t.Context(), d.ID, sandbox.MoneyEvents{}))
	}
}

func disputeIs(status string) func(*testing.T, *crash.Shop, string) {
	return func(t *testing.T, s *crash.Shop, session string) {
		d, err := s.Sandbox.ChangeDispute(moneyID("du", 1, session), status)
		must(t, err)
		taken(t)(s.Sandbox.DeliverDispute(t.Context(), d.ID, sandbox.MoneyEvents{}))
	}
}

// taken fails the test unless every event was answered 200.
func taken(t *testing.T) func([]sandbox.Delivery, error) {
	return func(list []sandbox.Delivery, err error) {
		t.Helper()
		must(t, err)
		for _, d := range list {
			for _, status := range d.Statuses {
				if status != 200 {
					t.Errorf("event %s was answered %d", d.EventID, status)
				}
			}
		}
	}
}

const mostTurns = 3

var fortunes = []struct {
	name  string
	sold  func(*sandbox.Session)
	turns []turn
}{
	{"a full refund", holding(guide), []turn{ends(refund(1, 0, "succeeded"))}},
	{"a refund on its way, then arrived", holding(guide), []turn{stays(refund(1, 0, "pending"), 2), ends(refundIs(1, "succeeded"))}},
	{"a refund on its way, then failed", holding(guide), []turn{stays(refund(1, 0, "pending"), 2), stays(refundIs(1, "failed"), 2)}},
	{"a refund that waits for the buyer, then canceled", holding(guide), []turn{stays(refund(1, 0, "requires_action"), 2), stays(refundIs(1, "canceled"), 2)}},
	{"a refund that seemed to succeed, then failed", holding(times(guide, 2)), []turn{ends(refund(1, 0, "succeeded")), stays(refundIs(1, "failed"), 3)}},
	{"the same, and paid back once more", holding(guide), []turn{ends(refund(1, 0, "succeeded")), stays(refundIs(1, "failed"), 2), ends(refund(2, 0, "succeeded"))}},
	{"a part that names no item", holding(guide), []turn{asks(refund(1, 500, "succeeded"), 2)}},
	{"a part on its way", holding(guide), []turn{stays(refund(1, 500, "pending"), 2)}},
	{"a part that names no item, then the rest", holding(guide), []turn{asks(refund(1, 500, "succeeded"), 2), ends(refund(2, 1400, "succeeded"))}},
	{"three parts that are the whole", holding(guide), []turn{
		asks(refund(1, 500, "succeeded"), 2), asks(refund(2, 700, "succeeded"), 2), ends(refund(3, 700, "succeeded"))}},
	{"one of three units", holding(times(guide, 3)), []turn{asks(refund(1, 1900, "succeeded"), 4)}},
	{"one of three licences that end by themselves", holding(times(app, 3)), []turn{stays(refund(1, 900, "succeeded"), 2)}},
	{"the same, then the rest", holding(times(app, 3)), []turn{stays(refund(1, 900, "succeeded"), 2), ends(refund(2, 1800, "succeeded"))}},
	{"the same, and the first fails", holding(times(app, 3)), []turn{stays(refund(1, 900, "succeeded"), 2), stays(refundIs(1, "failed"), 3)}},
	{"one of two items, known by its price", holding(guide, app), []turn{stays(refund(1, 900, "succeeded"), 2)}},
	{"one of two items of one price", holding(birds, app), []turn{asks(refund(1, 900, "succeeded"), 2)}},
	{"a print", holding(prints), []turn{stays(refund(1, 0, "succeeded"), 1)}},
	{"a print and a guide", holding(prints, guide), []turn{stays(refund(1, 0, "succeeded"), 1)}},
	{"a dispute that is won", holding(times(guide, 2)), []turn{holds(dispute("needs_response")), holds(disputeIs("under_review")), stays(disputeIs("won"), 3)}},
	{"a dispute that is lost", holding(guide), []turn{holds(dispute("needs_response")), ends(disputeIs("lost"))}},
	{"an inquiry that is closed", holding(guide), []turn{stays(dispute("warning_needs_response"), 2), stays(disputeIs("warning_closed"), 2)}},
	{"an inquiry that becomes a dispute", holding(guide), []turn{stays(dispute("warning_needs_response"), 2), holds(disputeIs("needs_response"))}},
	{"a dispute about a print", holding(prints), []turn{stays(dispute("needs_response"), 1)}},
	{"a dispute, and the money given back", holding(guide), []turn{holds(dispute("needs_response")), ends(refund(1, 0, "succeeded")), ends(disputeIs("won"))}},
}

// Every way that money can go after it was paid, reported to a running shop. Access follows the money and the policy of the
// product, under the same keys and the same link; nobody gets another email; what a refund was for is never guessed. All
// orders live at the same time, turn by turn.
func TestAccessFollowsTheMoneyAndNobodyIsWrittenToAgain(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: moneyShop})
	sessions := make([]string, len(fortunes))
	for i, f := range fortunes {
		sessions[i] = s.Buy(f.sold)
	}
	for _, session := range sessions {
		s.SettledOnce(session, 1)
	}
	for n := range mostTurns {
		for i, f := range fortunes {
			if n < len(f.turns) {
				f.turns[n].happens(t, s, sessions[i])
			}
		}
		for i, f := range fortunes {
			if n < len(f.turns) {
				s.AwaitReviewed(sessions[i])
			}
		}
		reasons := attention(t, s)
		for i, f := range fortunes {
			if n < len(f.turns) {
				t.Run(fmt.Sprintf("%s, turn %d", f.name, n+1), func(t *testing.T) {
					checkTurn(t, s.In(t), sessions[i], f.turns[n])
					if got := reasons["test/"+sessions[i]]; got != f.turns[n].reason {
						t.Errorf("a person is asked for the reason %q, want %q", got, f.turns[n].reason)
					}
				})
			}
		}
	}
}

// checkTurn holds what the buyer can see against what the turn has to lead to.
func checkTurn(t *testing.T, s *crash.Shop, session string, want turn) {
	page, m := s.Status(session), s.Message(session)
	if opens := len(page.Downloads) + len(page.Licenses); page.Access.State != want.access || page.CustomerState != want.buyer || opens != want.opens {
		t.Errorf("access %s, the page says %s and opens %d; want %s, %s and %d",
			page.Access.State, page.CustomerState, opens, want.access, want.buyer, want.opens)
	}
	link, _ := s.Link(m)
	_, text := get(t, link)
	keys := harness.Licenses(m.Text)
	onPage := slices.Compact(slices.Sorted(slices.Values(harness.Licenses(text))))
	if len(onPage) != len(page.Licenses) || slices.ContainsFunc(onPage, func(key string) bool { return !slices.Contains(keys, key) }) {
		t.Errorf("the emailed link shows %d keys and the order's page %d; they have to be the same, of the %d in the email",
			len(onPage), len(page.Licenses), len(keys))
	}
	if got := s.Sandbox.Counts().Emails.ByOrder["test/"+session]; got != 1 {
		t.Errorf("%d messages, want the one of the sale", got)
	}
}

// attention is the list of what needs a person, with the reasons.
func attention(t *testing.T, s *crash.Shop) map[string]order.Reason {
	t.Helper()
	out, errs, code := s.Command("list", "--attention", "--json")
	var list []struct {
		Order  string
		Reason order.Reason
	}
	if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil {
		t.Fatalf("list --attention ended %d (%v): %s", code, err, errs)
	}
	reasons := map[string]order.Reason{}
	for _, one := range list {
		reasons[one.Order] = one.Reason
	}
	return reasons
}
