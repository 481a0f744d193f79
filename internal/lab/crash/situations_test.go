package crash_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

const (
	paidLate   = "checkout.session.async_payment_succeeded"
	failedLate = "checkout.session.async_payment_failed"
	expired    = "checkout.session.expired"
)

func unpaid(c *sandbox.Session) { c.PaymentStatus = "unpaid" }

// step is one thing that happens to a session, or that the shop is informed of.
type step func(*testing.T, *crash.Shop, string)

func changes(patch string) step {
	return func(t *testing.T, s *crash.Shop, session string) {
		_, err := s.Sandbox.ChangeSession(session, []byte(patch))
		must(t, err)
	}
}

// tells reports the kinds of events one after the other.
func reports(kinds ...string) step {
	return func(t *testing.T, s *crash.Shop, session string) {
		for _, kind := range kinds {
			if status := s.Report(session, kind, ""); status != 200 {
				t.Errorf("%s was answered %d", kind, status)
			}
		}
	}
}

// reportsAtOnce delivers all of them at the same moment.
func reportsAtOnce(kinds ...string) step {
	return func(t *testing.T, s *crash.Shop, session string) {
		var calls sync.WaitGroup
		for _, kind := range kinds {
			calls.Go(func() { reports(kind)(t, s, session) })
		}
		calls.Wait()
	}
}

func shows(state order.CustomerState) step {
	return func(_ *testing.T, s *crash.Shop, session string) { s.AwaitState(session, state) }
}

const arrives = `{"status":"complete","payment_status":"paid","payment_intent":{"status":"succeeded"}}`

// situations are the ways in which a payment comes or does not come, each ending with what the buyer has.
var situations = []struct {
	name  string
	sold  func(*sandbox.Session)
	steps []step
	files int // that the buyer can fetch in the end
	keys  int // licence keys that the buyer has in the end
}{
	{"the success of a delayed payment is all that is reported", unpaid, []step{changes(arrives), reports(paidLate)}, 1, 1},
	{"both are reported at the same moment", unpaid, []step{changes(arrives), reportsAtOnce(harness.Completed, paidLate)}, 1, 1},
	{"the success is reported before the checkout", unpaid, []step{changes(arrives), reports(paidLate, harness.Completed)}, 1, 1},
	{"a delayed payment fails, and a later attempt succeeds", unpaid, []step{
		reports(harness.Completed), shows(order.CustomerProcessing), reports(failedLate), shows(order.CustomerFailed), changes(arrives), reports(paidLate)}, 1, 1},
	{"the failure is reported again after the success", unpaid, []step{
		reports(harness.Completed), changes(arrives), reports(paidLate), shows(order.CustomerReady), reports(failedLate, failedLate)}, 1, 1},
	{"success and failure at the same moment, and the money is there", unpaid, []step{
		reports(harness.Completed), shows(order.CustomerProcessing), changes(arrives), reportsAtOnce(paidLate, failedLate)}, 1, 1},
	{"a session that expired, and was paid all the same", func(c *sandbox.Session) { c.Status, c.PaymentStatus = "open", "unpaid" }, []step{
		changes(`{"status":"expired"}`), reports(expired), shows(order.CustomerWaiting), changes(arrives), reports(harness.Completed)}, 1, 1},
	{"it is reported that a paid session expired", nil, []step{reports(expired, harness.Completed)}, 1, 1},
	{"nothing to pay", func(c *sandbox.Session) { c.PaymentStatus, c.Amount = "no_payment_required", 0 }, []step{reports(harness.Completed)}, 1, 1},
	{"paid, and the total is zero", func(c *sandbox.Session) { c.Amount = 0 }, []step{reports(harness.Completed)}, 1, 1},
	{"two endpoints report one sale under two event ids", nil, []step{reportsAtOnce(harness.Completed, harness.Completed), reports(harness.Completed)}, 1, 1},
	{"quantity 10", holding(times(guide, 10)), []step{reports(harness.Completed)}, 1, 10},
	{"one product on two lines", holding(times(guide, 2), guide), []step{reports(harness.Completed)}, 1, 3},
	{"12 lines, the last two on the second page", holding(append(slices.Repeat([]sandbox.Item{app}, 10), guide, birds)...), []step{reports(harness.Completed)}, 2, 11},
	{"known by the product, under a price that is not in the catalogue", holding(birds), []step{reports(harness.Completed)}, 1, 0},
	{"a payment link: no metadata, no reference, no name", func(c *sandbox.Session) { c.Metadata, c.Name, c.CustomerEmail = nil, "", "" }, []step{reports(harness.Completed)}, 1, 1},
	{"both events of a delayed payment are lost, and the owner has it checked", unpaid, []step{
		reports(harness.Completed), shows(order.CustomerProcessing), changes(arrives), func(t *testing.T, s *crash.Shop, session string) {
			if out, errs, code := s.Command("replay", "test/"+session); code != 0 {
				t.Errorf("replay ended %d:\n%s%s", code, out, errs)
			}
		}}, 1, 1},
}

// However the money comes, and whatever is reported of it in whatever order: one order, each unit once, one email.
func TestHoweverAPaymentComesTheOrderIsDeliveredOnce(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: moneyShop})
	sessions := make([]string, len(situations))
	for i, c := range situations {
		sessions[i] = s.Checkout(c.sold)
		for _, step := range c.steps {
			step(t, s, sessions[i])
		}
	}
	for i, c := range situations {
		t.Run(c.name, func(t *testing.T) {
			s := s.In(t)
			s.SettledOnce(sessions[i], 1)
			page := s.Status(sessions[i])
			emailed := harness.Licenses(s.Message(sessions[i]).Text)
			slices.Sort(emailed)
			if len(page.Downloads) != c.files || len(page.Licenses) != c.keys || len(slices.Compact(emailed)) != c.keys {
				t.Errorf("%d files and %d keys on the page, %d different keys in the email; want %d and %d",
					len(page.Downloads), len(page.Licenses), len(emailed), c.files, c.keys)
			}
		})
	}
}

// The account's other business, and checkouts that buyers left, are taken with 200: an endpoint that refuses them is
// disabled, and with it the shop. Paid sessions of other products are kept for the day on which the catalogue is fixed.
func TestEventsOfOtherProductsAreTakenAndMakeNoOrder(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	for _, kind := range []string{"invoice.paid", "customer.created", "customer.subscription.deleted", "payment_intent.succeeded", "charge.succeeded", "payout.paid"} {
		d := s.Deliver(sandbox.EventRequest{Type: kind, Object: json.RawMessage(`{"id":"obj_1","object":"other","payment_intent":"pi_1"}`)})
		if d.Statuses[0] != 200 {
			t.Errorf("%s was answered %d", kind, d.Statuses[0])
		}
	}
	reports(expired)(t, s, s.Checkout(func(c *sandbox.Session) { c.Status, c.PaymentStatus = "expired", "unpaid" }))
	if orders, events := s.Heard(); orders != 0 || events != 7 {
		t.Errorf("%d orders of %d events, want none of 7", orders, events)
	}
	other := s.Buy(func(c *sandbox.Session) { c.Items[0].Price, c.Items[0].Product = "price_else", "prod_else" })
	nothing := s.Buy(func(c *sandbox.Session) { c.Items[0].Price, c.Items[0].Product = "", "" })
	for _, session := range []string{other, nothing} {
		s.AwaitState(session, order.CustomerNotOurs)
	}
	out, _, code := s.Command("list", "--ignored", "--json")
	if code != 0 || !strings.Contains(out, other) || !strings.Contains(out, nothing) {
		t.Errorf("list --ignored ended %d:\n%s", code, out)
	}
	if got := s.Sandbox.Counts().Emails.Accepted; got != 0 {
		t.Errorf("%d messages about what is not ours", got)
	}
	if left := attention(t, s); len(left) != 0 {
		t.Errorf("a person is asked about what is not ours: %v", left)
	}
}

// reshape changes the sessions that the sandbox's Stripe gives away, so that they have shapes of other API versions and of
// other checkouts.
func reshape(t *testing.T, s *crash.Shop, change func(id string, session map[string]any)) (apiURL string) {
	t.Helper()
	fake := s.Sandbox.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, found := strings.CutPrefix(r.URL.Path, "/v1/checkout/sessions/")
		if !found || strings.Contains(id, "/") {
			fake.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		fake.ServeHTTP(answer, r)
		var session map[string]any
		if err := json.Unmarshal(answer.Body.Bytes(), &session); err != nil {
			t.Error(err)
		}
		change(id, session)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.Code)
		_ = json.NewEncoder(w).Encode(session)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// firstPrice is the price of a retrieved session's first line.
func firstPrice(session map[string]any) (line, price map[string]any) {
	line = session["line_items"].(map[string]any)["data"].([]any)[0].(map[string]any)
	price, _ = line["price"].(map[string]any)
	return line, price
}

// What was bought is in the lines, and the lines come in more shapes than one.
func TestASessionOfAnyShapeIsDelivered(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Idle: true})
	shapes := map[string]func(map[string]any){
		"the product is an object": func(o map[string]any) {
			_, price := firstPrice(o)
			price["product"] = map[string]any{"id": "prod_birds", "object": "product", "name": "Birds"}
		},
		"the product was deleted": func(o map[string]any) {
			_, price := firstPrice(o)
			price["product"] = map[string]any{"id": "prod_birds", "object": "product", "deleted": true}
		},
		"the price is an id":         func(o map[string]any) { line, _ := firstPrice(o); line["price"] = "price_guide" },
		"the intent is an id":        func(o map[string]any) { o["payment_intent"] = o["payment_intent"].(map[string]any)["id"] },
		"there is no intent":         func(o map[string]any) { o["payment_intent"] = nil },
		"the lines are not embedded": func(o map[string]any) { delete(o, "line_items") },
		"the address was prefilled":  func(o map[string]any) { o["customer_details"], o["customer_email"] = nil, crash.BuyerEmail },
		"fields that nobody knows":   func(o map[string]any) { o["future"], o["metadata"] = []any{map[string]any{"x": 1e300}}, nil },
	}
	var mu sync.Mutex
	names := map[string]string{}
	api := reshape(t, s, func(id string, session map[string]any) {
		mu.Lock()
		defer mu.Unlock()
		shapes[names[id]](session)
	})
	const before = "webhook_secrets = [\"${STRIPE_SECRET}\"]\napi_url         = "
	s.Reconfigure(before, before+fmt.Sprintf("%q # and not ", api))
	s.StartStarter()
	s.StartWorker()
	for name := range shapes {
		session := s.Checkout(func(c *sandbox.Session) {
			if strings.HasPrefix(name, "the product") {
				holding(birds)(c)
			}
		})
		mu.Lock()
		names[session] = name
		mu.Unlock()
		reports(harness.Completed)(t, s, session)
	}
	for session, name := range names {
		t.Run(name, func(t *testing.T) {
			s := s.In(t)
			s.SettledOnce(session, 1)
			if got := len(s.Status(session).Downloads); got != 1 {
				t.Errorf("%d files, want 1", got)
			}
		})
	}
}
