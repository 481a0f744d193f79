package creem_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/payment/creem"
)

// api answers by path and query; what it was asked for is kept.
type api struct {
	mu      sync.Mutex
	answers map[string]string
	asked   []string
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, r.URL.Path)
	for _, asked := range []string{r.URL.RequestURI(), r.URL.Path} {
		if answer, found := a.answers[asked]; found {
			_, _ = io.WriteString(w, answer)
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, `{"status":404,"error":"Not Found","message":["private"]}`)
}

func serve(t *testing.T, answers map[string]string) (*creem.Provider, *api) {
	t.Helper()
	a := &api{answers: answers}
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	return provider(t, func(c *creem.Config) { c.APIURL = s.URL }), a
}

const (
	checkouts    = "/v1/checkouts"
	customers    = "/v1/customers"
	transactions = "/v1/transactions/search"
)

// list is one page of transactions, the last one.
func list(items ...string) string {
	return `{"items":[` + strings.Join(items, ",") + `],"pagination":{"total_records":1,"total_pages":1,"current_page":1,"next_page":null,"prev_page":null}}`
}

const paidOnce = `{"id":"tran_1","type":"payment","status":"paid","amount":1000,"amount_paid":1210,"currency":"EUR","order":"ord_1","customer":"cust_1","created_at":1790000000000}`

func retrieve(t *testing.T, p *creem.Provider) payment.Facts {
	t.Helper()
	f, err := p.Session(t.Context(), "ch_1")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func checkout(fields string) string {
	return `{"id":"ch_1","object":"checkout","mode":"test",` + fields + `}`
}

const wholeOrder = `{"id":"ord_1","status":"paid","type":"onetime","amount":1000,"amount_due":1210,"amount_paid":1210,"tax_amount":210,"currency":"EUR","product":"prod_1","customer":"cust_1","created_at":"2026-09-21T14:13:20.000Z","mode":"prod"}`

func TestACheckoutIsReadFromObjectsAndFromIds(t *testing.T) {
	t.Parallel()
	want := payment.Facts{
		Session: "ch_1", Created: time.Date(2026, 9, 21, 14, 13, 20, 0, time.UTC), PaidAt: time.Date(2026, 9, 21, 14, 13, 20, 0, time.UTC), Mode: order.Test, Kind: order.SessionPayment,
		Status: payment.StatusPaid, PaymentRef: "ord_1",
		Total: order.Money{Minor: 1210, Currency: "EUR"}, Email: "Ada@example.com", Name: "Ada",
		Items: []order.Item{{Line: 1, Refs: []string{"prod_1"}, Quantity: 2, Amount: 1210}},
	}
	const customer = `{"id":"cust_1","email":" Ada@example.com ","name":"Ada\u0000"}`
	for name, fields := range map[string]string{
		"objects":        `"order":` + wholeOrder + `,"product":{"id":"prod_1","billing_type":"onetime"},"customer":` + customer,
		"ids":            `"order":"ord_1","product":"prod_1","customer":"cust_1"`,
		"order only":     `"order":` + wholeOrder,
		"product's name": `"order":` + wholeOrder + `,"product":{"id":"prod_1","name":" The Guide "},"customer":"cust_1"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := serve(t, map[string]string{
				checkouts + "?checkout_id=ch_1":                              checkout(`"status":"completed","units":2,` + fields),
				customers + "?customer_id=cust_1":                            customer,
				transactions + "?order_id=ord_1&page_number=1&page_size=100": list(paidOnce),
			})
			got := retrieve(t, p)
			if name == "product's name" && got.Items[0].Name != "The Guide" {
				t.Errorf("name %q", got.Items[0].Name)
			}
			got.Items[0].Name = ""
			want := want
			if name != "ids" { // which say no more than what was paid
				want.Parts = []int64{210}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheStatusIsOnlyWhatIsProved(t *testing.T) {
	t.Parallel()
	of := func(status, fields string) string {
		return `"status":"` + status + `","product":{"id":"prod_1","billing_type":"onetime"},"order":{"id":"ord_1","type":"onetime","currency":"EUR",` + fields + `}`
	}
	for _, test := range []struct {
		name, fields string
		kind         order.SessionKind
		want         payment.SessionStatus
		total        int64
	}{
		{"paid", of("completed", `"status":"paid","amount_paid":1210,"amount":1000`), order.SessionPayment, payment.StatusPaid, 1210},
		{"paid, amounts of before", of("completed", `"status":"paid","amount":1000`), order.SessionPayment, payment.StatusPaid, 1000},
		{"paid, no amounts", of("completed", `"status":"paid"`), order.SessionPayment, payment.StatusPaid, 0},
		{"paid, a fraction", of("completed", `"status":"paid","amount_paid":12.1`), order.SessionPayment, payment.StatusPaid, 0},
		{"paid, whole with a point", of("completed", `"status":"paid","amount_paid":1210.0`), order.SessionPayment, payment.StatusPaid, 1210},
		{"paid after it expired", of("expired", `"status":"paid","amount_paid":1210`), order.SessionPayment, payment.StatusPaid, 1210},
		{"free", of("completed", `"status":"paid","amount_paid":0,"amount_due":0`), order.SessionPayment, payment.StatusFree, 0},
		{"nothing paid of what is due", of("completed", `"status":"paid","amount_paid":0,"amount_due":1210`), order.SessionPayment, payment.StatusProcessing, 0},
		{"completed, order pending", of("completed", `"status":"pending","amount_paid":0`), order.SessionPayment, payment.StatusProcessing, 0},
		{"completed, order unknown", of("completed", `"status":"settled","amount_paid":1210`), order.SessionPayment, payment.StatusProcessing, 1210},
		{"completed, no order", `"status":"completed","product":{"id":"prod_1","billing_type":"onetime"}`, order.SessionPayment, payment.StatusProcessing, 0},
		{"processing", of("processing", `"status":"pending","amount_paid":0`), order.SessionPayment, payment.StatusProcessing, 0},
		{"pending", `"status":"pending","product":"prod_1"`, order.SessionPayment, payment.StatusOpen, 0},
		{"expired", `"status":"expired","product":"prod_1"`, order.SessionPayment, payment.StatusExpired, 0},
		{"an unknown status", of("settled", `"status":"paid","amount_paid":1210`), order.SessionPayment, payment.StatusOpen, 1210},
		{"no status", `"product":"prod_1"`, order.SessionPayment, payment.StatusOpen, 0},
		{"recurring", `"status":"completed","order":{"id":"ord_1","status":"paid","type":"recurring","amount_paid":1210}`, order.SessionOther, payment.StatusPaid, 1210},
		{"recurring product", `"status":"pending","product":{"id":"prod_1","billing_type":"recurring"}`, order.SessionOther, payment.StatusOpen, 0},
		{"a subscription", of("completed", `"status":"paid","amount_paid":1210`) + `,"subscription":"sub_1"`, order.SessionOther, payment.StatusPaid, 1210},
		{"no subscription", of("completed", `"status":"paid","amount_paid":1210`) + `,"subscription":null`, order.SessionPayment, payment.StatusPaid, 1210},
		{"of no kind", `"status":"completed","order":{"id":"ord_1","status":"paid","amount_paid":1210}`, order.SessionOther, payment.StatusPaid, 1210},
		{"of an unknown kind", `"status":"completed","order":{"id":"ord_1","status":"paid","type":"rent","amount_paid":1210}`, order.SessionOther, payment.StatusPaid, 1210},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, _ := serve(t, map[string]string{checkouts: checkout(test.fields), transactions: list()})
			f := retrieve(t, p)
			if f.Kind != test.kind || f.Status != test.want || f.Total.Minor != test.total {
				t.Errorf("kind %q, status %q, total %d; want %q, %q, %d", f.Kind, f.Status, f.Total.Minor, test.kind, test.want, test.total)
			}
		})
	}
}

func TestAnOrderGivenByItsIdIsPaidWhenItsTransactionIs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		transactions string
		kind         order.SessionKind
		want         payment.SessionStatus
	}{
		"paid":         {list(paidOnce), order.SessionPayment, payment.StatusPaid},
		"a second try": {list(paidOnce, strings.Replace(paidOnce, `"paid"`, `"declined"`, 1)), order.SessionPayment, payment.StatusPaid},
		"pending":      {list(strings.Replace(paidOnce, `"paid"`, `"pending"`, 1)), order.SessionOther, payment.StatusProcessing},
		"declined":     {list(strings.Replace(paidOnce, `"paid"`, `"declined"`, 1)), order.SessionOther, payment.StatusProcessing},
		"unknown":      {list(strings.Replace(paidOnce, `"paid"`, `"settled"`, 1)), order.SessionOther, payment.StatusProcessing},
		"none":         {list(), order.SessionOther, payment.StatusProcessing},
		"another's":    {list(strings.Replace(paidOnce, "ord_1", "ord_2", 1)), order.SessionOther, payment.StatusProcessing},
		"an invoice":   {list(strings.Replace(paidOnce, `"payment"`, `"invoice"`, 1)), order.SessionOther, payment.StatusPaid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := serve(t, map[string]string{checkouts: checkout(`"status":"completed","order":"ord_1","product":"prod_1"`), transactions: test.transactions})
			if f := retrieve(t, p); f.Status != test.want || f.Kind != test.kind {
				t.Errorf("status %q, kind %q; want %q, %q", f.Status, f.Kind, test.want, test.kind)
			}
		})
	}
}

func TestACheckoutThatDoesNotSayItsModeIsOfTheKeys(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]order.Mode{
		`"mode":"test",`: order.Test, `"mode":"sandbox",`: order.Test, `"mode":"prod",`: order.Live, ``: order.Test, `"mode":"staging",`: "", `"mode":7,`: "",
	} {
		p, _ := serve(t, map[string]string{checkouts: `{"id":"ch_1",` + mode + `"status":"pending","order":{"mode":"prod"}}`})
		if f := retrieve(t, p); f.Mode != want {
			t.Errorf("%s mode %q, want %q", mode, f.Mode, want)
		}
	}
}

func TestUnitsAreWholeAndAtLeastOne(t *testing.T) {
	t.Parallel()
	for units, want := range map[string]int64{``: 1, `"units":null,`: 1, `"units":0,`: 1, `"units":-2,`: 1, `"units":1.5,`: 1, `"units":"3",`: 1, `"units":3,`: 3} {
		p, _ := serve(t, map[string]string{checkouts: checkout(units + `"status":"pending","product":"prod_1"`)})
		if f := retrieve(t, p); len(f.Items) != 1 || f.Items[0].Quantity != want {
			t.Errorf("%s items %+v, want %d", units, f.Items, want)
		}
	}
	p, _ := serve(t, map[string]string{checkouts: checkout(`"status":"completed"`)})
	if f := retrieve(t, p); len(f.Items) != 0 {
		t.Errorf("a checkout without a product has items: %+v", f.Items)
	}
}

func TestOnlyWhatIsNeededIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, fields string
		want         []string
	}{
		{"unfinished", `"status":"pending","product":"prod_1","customer":"cust_1"`, []string{checkouts}},
		{"not paid yet", `"status":"completed","order":{"id":"ord_1","status":"pending"},"customer":"cust_1"`, []string{checkouts}},
		{"paid", `"status":"completed","order":` + wholeOrder + `,"customer":{"id":"cust_1","email":"a@example.com"}`, []string{checkouts, transactions}},
		{"paid, customer by id", `"status":"completed","order":` + wholeOrder + `,"customer":"cust_1"`, []string{checkouts, transactions, customers}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, a := serve(t, map[string]string{checkouts: checkout(test.fields), transactions: list(paidOnce), customers: `{"id":"cust_1","email":"a@example.com"}`})
			retrieve(t, p)
			if diff := cmp.Diff(test.want, a.asked); diff != "" {
				t.Errorf("asked for (-want +got):\n%s", diff)
			}
		})
	}
}

// The order is paid, and the buyer gets it: only the message has nowhere to go.
func TestACustomerWhoIsGoneHasNoAddress(t *testing.T) {
	t.Parallel()
	fields := `"status":"completed","customer":"cust_1","order":` + wholeOrder
	for name, customer := range map[string]string{"unknown": "", "another one": `{"id":"cust_2","email":"b@example.com"}`} {
		answers := map[string]string{checkouts: checkout(fields), transactions: list(paidOnce)}
		if customer != "" {
			answers[customers] = customer
		}
		p, _ := serve(t, answers)
		if f := retrieve(t, p); f.Status != payment.StatusPaid || f.Email != "" {
			t.Errorf("%s: status %q, address known %v", name, f.Status, f.Email != "")
		}
	}
}

func TestAFailedSecondCallFailsTheWhole(t *testing.T) {
	t.Parallel()
	for _, failing := range []string{customers, transactions} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case failing:
				w.WriteHeader(http.StatusServiceUnavailable)
			case transactions:
				_, _ = io.WriteString(w, list(paidOnce))
			default:
				fmt.Fprint(w, checkout(`"status":"completed","customer":"cust_1","order":`+wholeOrder))
			}
		}))
		t.Cleanup(s.Close)
		e := failure(t, provider(t, func(c *creem.Config) { c.APIURL = s.URL }))
		if want := (payment.APIError{Status: 503}); *e != want {
			t.Errorf("%s: %+v, want %+v", failing, *e, want)
		}
	}
}
