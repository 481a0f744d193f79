package sandbox_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/lab/sandbox"
)

var testKey = map[string]string{"x-api-key": "creem_test_1"}

// ask reads from Creem's API.
func ask(t *testing.T, c shop, path string, header map[string]string) (int, map[string]any) {
	t.Helper()
	a := made(do(t, "GET", c.Base+"/creem/v1/"+path, "", header))(t)
	var o map[string]any
	must(t, json.Unmarshal([]byte(a.body), &o))
	return a.status, o
}

func TestACheckoutAtCreemIsPendingUntilTheBuyerPays(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	opened := made(do(t, "POST", c.Base+"/creem/v1/checkouts",
		`{"product_id":"prod_guide","units":2,"request_id":"7","customer":{"email":"a@example.com"},"metadata":{"k":"v"},"new":1}`, testKey))(t)
	var first map[string]any
	must(t, json.Unmarshal([]byte(opened.body), &first))
	id, _ := first["id"].(string)
	if first["status"] != "pending" || first["product"] != "prod_guide" || first["order"] != nil || first["mode"] != "test" || first["checkout_url"] == nil {
		t.Errorf("opened: %v", first)
	}
	made(c.CompleteCheckout(id))(t)
	_, o := ask(t, c, "checkouts?checkout_id="+id, testKey)
	ord, _ := o["order"].(map[string]any)
	product, _ := o["product"].(map[string]any)
	customer, _ := o["customer"].(map[string]any)
	if o["status"] != "completed" || o["request_id"] != "7" || ord["status"] != "paid" || ord["type"] != "onetime" || ord["amount_paid"] != 2400.0 ||
		ord["currency"] != "EUR" || product["name"] != "The Guide" || customer["email"] != "a@example.com" {
		t.Errorf("completed: %v", o)
	}
}

func TestCreemErrors(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{CreemKeys: []string{"creem_test_1", "creem_live"}})
	known := made(c.CreateCheckout(sandbox.Checkout{}))(t)
	for _, tc := range []struct {
		name, path, key string
		status          int
	}{
		{"known", "checkouts?checkout_id=" + known.ID, "creem_test_1", 200},
		{"customer", "customers?customer_id=" + known.Customer, "creem_test_1", 200},
		{"transaction", "transactions?transaction_id=" + known.Transaction, "creem_test_1", 200},
		{"unknown", "checkouts?checkout_id=ch_other", "creem_test_1", 404},
		{"key of the other mode", "checkouts?checkout_id=" + known.ID, "creem_live", 404},
		{"wrong key", "checkouts?checkout_id=" + known.ID, "creem_test_2", 403},
		{"no key", "checkouts?checkout_id=" + known.ID, "", 403},
		{"no id", "checkouts", "creem_test_1", 400},
		{"no page", "transactions/search?page_number=0", "creem_test_1", 400},
		{"no such address", "orders?order_id=ord_1", "creem_test_1", 404},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			status, o := ask(t, c, tc.path, map[string]string{"x-api-key": tc.key})
			_, texts := o["message"].([]any)
			if status != tc.status || status >= 400 && (o["status"] != float64(status) || o["error"] != http.StatusText(status) || !texts || o["trace_id"] == nil) {
				t.Errorf("HTTP %d: %v", status, o)
			}
		})
	}
}

func TestATransactionTellsWhatBecameOfTheMoney(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	sold := made(c.CreateCheckout(sandbox.Checkout{Amount: 1210, Tax: 210, Currency: "eur"}))(t)
	state := func() string {
		_, o := ask(t, c, "transactions?transaction_id="+sold.Transaction, testKey)
		return fmt.Sprint(o["status"], " ", o["refunded_amount"], " of ", o["amount_paid"], ", ", o["order"] == sold.Order, ", checkout ", o["checkout"])
	}
	for _, step := range []struct {
		change func() (sandbox.Checkout, error)
		want   string
	}{
		{func() (sandbox.Checkout, error) { return sold, nil }, "paid 0 of 1210"},
		{func() (sandbox.Checkout, error) { return c.RefundCheckout(sold.ID, 500) }, "partialRefund 500 of 1210"},
		{func() (sandbox.Checkout, error) { return c.RefundCheckout(sold.ID, 0) }, "refunded 1210 of 1210"},
		{func() (sandbox.Checkout, error) { return c.DisputeCheckout(sold.ID) }, "chargedBack 1210 of 1210"},
	} {
		made(step.change())(t)
		if got := state(); got != step.want+", true, checkout <nil>" {
			t.Errorf("transaction: %s; want %s", got, step.want)
		}
	}
	if _, err := c.RefundCheckout(sold.ID, 1); err == nil {
		t.Error("more was given back than was paid")
	}
}

func TestTransactionsAreSearchedAndPaged(t *testing.T) {
	t.Parallel()
	now := newClock()
	c := start(t, sandbox.Config{Now: now.now})
	var orders []string
	for range 5 {
		sold := made(c.CreateCheckout(sandbox.Checkout{Product: "prod_guide"}))(t)
		orders = append([]string{sold.Order}, orders...)
		now.move(60e9)
	}
	made(c.CreateCheckout(sandbox.Checkout{Status: "pending"}))(t)
	made(c.CreateCheckout(sandbox.Checkout{Free: true}))(t)
	for _, tc := range []struct {
		query string
		want  []string
		next  any
	}{
		{"", orders, nil},
		{"page_size=2", orders[:2], 2.0},
		{"page_size=2&page_number=2", orders[2:4], 3.0},
		{"page_size=2&page_number=3", orders[4:], nil},
		{"page_size=2&page_number=4", nil, nil},
		{"order_id=" + orders[1], orders[1:2], nil},
		{"order_id=ord_other", nil, nil},
		{"product_id=prod_guide&page_size=1", orders[:1], 2.0},
	} {
		_, o := ask(t, c, "transactions/search?"+tc.query, testKey)
		var got []string
		for _, item := range o["items"].([]any) {
			got = append(got, item.(map[string]any)["order"].(string))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || o["pagination"].(map[string]any)["next_page"] != tc.next {
			t.Errorf("%s: %v\n%s", tc.query, o["pagination"], diff)
		}
	}
	if reads := c.Counts().Creem.Transactions; reads[""] != 6 || reads[orders[1]] != 1 {
		t.Errorf("counted %v", reads)
	}
}

func TestCreemsEventsAreSignedAndMayComeTwice(t *testing.T) {
	t.Parallel()
	r := receive(t, always(200))
	c := start(t, sandbox.Config{CreemSecret: "whsec_creem", CreemWebhookURL: r.url})
	sold := made(c.CreateCheckout(sandbox.Checkout{Amount: 1210, Bare: true}))(t)
	made(c.RefundCheckout(sold.ID, 500))(t)
	made(c.DisputeCheckout(sold.ID))(t)
	for _, kind := range []string{"checkout.completed", "refund.created", "dispute.created"} {
		d := made(c.DeliverCreem(t.Context(), sandbox.CreemEvent{Type: kind, Checkout: sold.ID, Copies: 2}))(t)
		if diff := cmp.Diff([]int{200, 200}, d.Statuses); diff != "" {
			t.Error(diff)
		}
		first, second := r.next(t), r.next(t)
		mac := hmac.New(sha256.New, []byte("whsec_creem"))
		mac.Write(first.body)
		if first.header.Get("creem-signature") != hex.EncodeToString(mac.Sum(nil)) || string(first.body) != string(second.body) {
			t.Errorf("%s: signature %s", kind, first.header.Get("creem-signature"))
		}
		var e struct {
			ID        string         `json:"id"`
			EventType string         `json:"eventType"`
			Object    map[string]any `json:"object"`
		}
		must(t, json.Unmarshal(first.body, &e))
		moved, _ := e.Object["transaction"].(map[string]any)
		if e.ID != d.EventID || e.EventType != kind || e.Object["order"] != sold.Order || kind != "checkout.completed" && moved["order"] != sold.Order {
			t.Errorf("%s: %s", kind, first.body)
		}
	}
}

func TestACreemEventNeedsSomethingToBeAbout(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	sold := made(c.CreateCheckout(sandbox.Checkout{Amount: 100}))(t)
	if _, err := c.DeliverCreem(t.Context(), sandbox.CreemEvent{Type: "checkout.completed", Checkout: sold.ID}); err == nil {
		t.Error("delivered to nowhere")
	}
	r := receive(t, always(200))
	c.SetCreemWebhookURL(r.url)
	for _, e := range []sandbox.CreemEvent{
		{Checkout: sold.ID}, {Type: "checkout.completed"}, {Type: "refund.created", Checkout: sold.ID}, {Type: "dispute.created", Checkout: sold.ID},
	} {
		if _, err := c.DeliverCreem(t.Context(), e); err == nil {
			t.Errorf("%+v was delivered", e)
		}
	}
	for _, wrong := range []sandbox.Checkout{{Status: "payed"}, {ID: "../x"}, {Mode: "zebra"}, {Status: "pending", Dispute: "disp_1"}, {Amount: 1, Tax: 2}} {
		if _, err := c.CreateCheckout(wrong); err == nil {
			t.Errorf("%+v was taken", wrong)
		}
	}
	if _, err := c.ChangeCheckout(sold.ID, []byte(`{"state":"paid"}`)); err == nil {
		t.Error("a field that is not there was taken")
	}
}

func TestCreemsFaultsComeBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	sold := made(c.CreateCheckout(sandbox.Checkout{}))(t)
	made(c.AddFault(sandbox.Fault{Target: "creem.checkout", Mode: "rate_limit", RetryAfter: 7, Times: 1}))(t)
	a := made(do(t, "GET", c.Base+"/creem/v1/checkouts?checkout_id="+sold.ID, "", testKey))(t)
	if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") != "7" {
		t.Errorf("HTTP %d, Retry-After %q", a.status, a.header.Get("Retry-After"))
	}
	if status, _ := ask(t, c, "checkouts?checkout_id="+sold.ID, testKey); status != http.StatusOK {
		t.Errorf("HTTP %d after the fault", status)
	}
	c.await(t, sandbox.WaitFor{What: "retrieves", Session: sold.ID}, 2)
}

func TestCheckoutsSurviveARestart(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "journal")
	s := made(sandbox.New(sandbox.Config{Journal: journal}))(t)
	before := made(s.CreateCheckout(sandbox.Checkout{Amount: 100, Email: "a@example.com"}))(t)
	before = made(s.ChangeCheckout(before.ID, []byte(`{"refunds":[{"amount":40}]}`)))(t)
	must(t, s.Close())
	c := start(t, sandbox.Config{Journal: journal})
	if diff := cmp.Diff(before, made(c.Checkout(before.ID))(t)); diff != "" {
		t.Errorf("checkout (-before +after):\n%s", diff)
	}
}
