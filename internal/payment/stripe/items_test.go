package stripe_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/order"
	"handover/internal/payment"
)

func line(n int) string {
	return fmt.Sprintf(`{"id":"li_%d","object":"item","description":"Guide %d","quantity":%d,"price":{"id":"price_%d","object":"price","product":"prod_%d"}}`,
		n, n, n, n, n)
}

func item(n int) order.Item {
	return order.Item{Line: n, Refs: []string{fmt.Sprintf("price_%d", n), fmt.Sprintf("prod_%d", n)}, Name: fmt.Sprintf("Guide %d", n), Quantity: int64(n)}
}

func TestItemsAreReadWithWhateverTheyAreSoldAs(t *testing.T) {
	t.Parallel()
	body := `{"id":"cs_test_a1","mode":"payment","line_items":{"data":[
		{"id":"li_1","description":"Text product","quantity":3,"price":{"id":"price_1","product":"prod_1"}},
		{"id":"li_2","description":"Whole product","quantity":1,"price":{"id":"price_2","product":{"id":"prod_2","object":"product","name":"Guide"}}},
		{"id":"li_3","description":"Deleted product","quantity":1,"price":{"id":"price_3","product":{"id":"prod_3","object":"product","deleted":true}}},
		{"id":"li_4","description":"No product","quantity":1,"price":{"id":"price_4","product":null}},
		{"id":"li_5","description":"Text price","quantity":1,"price":"price_5"},
		{"id":"li_6","description":null,"quantity":null,"price":null},
		{"id":"li_7","description":"Odd product","quantity":2,"price":{"id":"price_7","product":{"id":"prod_7","object":"product","name":null,"metadata":null}}},
		{"id":"li_8","description":"Deleted price","quantity":1,"price":{"id":"price_8","object":"price","deleted":true}},
		null,
		{"description":"No id","quantity":1},
		{"description":"No id either","quantity":1}]}}`
	want := []order.Item{
		{Line: 1, Name: "Text product", Quantity: 3, Refs: []string{"price_1", "prod_1"}},
		{Line: 2, Name: "Whole product", Quantity: 1, Refs: []string{"price_2", "prod_2"}},
		{Line: 3, Name: "Deleted product", Quantity: 1, Refs: []string{"price_3", "prod_3"}},
		{Line: 4, Name: "No product", Quantity: 1, Refs: []string{"price_4"}},
		{Line: 5, Name: "Text price", Quantity: 1, Refs: []string{"price_5"}},
		{Line: 6, Quantity: 1},
		{Line: 7, Name: "Odd product", Quantity: 2, Refs: []string{"price_7", "prod_7"}},
		{Line: 8, Name: "Deleted price", Quantity: 1, Refs: []string{"price_8"}},
		{Line: 9, Name: "No id", Quantity: 1},
		{Line: 10, Name: "No id either", Quantity: 1},
	}
	if diff := cmp.Diff(want, retrieve(t, answering(t, body)).Items); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

// list is a list of line items, from the first to the last number.
func list(first, last int, more bool) string {
	var lines []string
	for n := first; n <= last; n++ {
		lines = append(lines, line(n))
	}
	return fmt.Sprintf(`{"object":"list","has_more":%v,"data":[%s]}`, more, strings.Join(lines, ","))
}

func TestEveryPageOfLineItemsIsRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		first string            // line_items in the session
		pages map[string]string // by starting_after
		want  int
	}{
		{"one page", list(1, 10, false), nil, 10},
		{"12 items on two", list(1, 10, true), map[string]string{"li_10": list(11, 12, false)}, 12},
		{"on three", list(1, 10, true), map[string]string{"li_10": list(11, 13, true), "li_13": list(14, 15, false)}, 15},
		{"overlapping", list(1, 10, true), map[string]string{"li_10": list(9, 12, false)}, 12},
		{"105 items, 100 on the second", list(1, 10, true), map[string]string{"li_10": list(11, 105, false)}, 105},
		{"215 items on four", list(1, 10, true), map[string]string{"li_10": list(11, 110, true), "li_110": list(111, 210, true), "li_210": list(211, 215, false)}, 215},
		{"none embedded", `null`, map[string]string{"": list(1, 3, false)}, 3},
		{"none embedded, 120 items", `null`, map[string]string{"": list(1, 100, true), "li_100": list(101, 120, false)}, 120},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := api(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == sessionPath {
					fmt.Fprintf(w, `{"id":"cs_test_a1","mode":"payment","line_items":%s}`, test.first)
					return
				}
				page, found := test.pages[r.URL.Query().Get("starting_after")]
				if r.URL.Path != sessionPath+"/line_items" || r.URL.Query().Get("limit") != "100" || !found {
					t.Errorf("called %s", r.URL)
				}
				_, _ = io.WriteString(w, page)
			})
			var want []order.Item
			for n := 1; n <= test.want; n++ {
				want = append(want, item(n))
			}
			if diff := cmp.Diff(want, retrieve(t, p).Items); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
}

// A setup session has no line items and is not ours: no second call is spent on it.
func TestASessionThatIsNoPaymentIsNotAskedForItems(t *testing.T) {
	t.Parallel()
	p := api(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != sessionPath {
			t.Errorf("called %s", r.URL)
		}
		_, _ = io.WriteString(w, `{"id":"cs_test_a1","mode":"setup","line_items":null}`)
	})
	if f := retrieve(t, p); len(f.Items) != 0 {
		t.Errorf("%d items", len(f.Items))
	}
}

func TestALineWithoutAQuantityIsOneOfIt(t *testing.T) {
	t.Parallel()
	for quantity, want := range map[string]int64{`"quantity":null,`: 1, ``: 1, `"quantity":0,`: 1, `"quantity":3,`: 3} {
		p := answering(t, `{"id":"cs_test_a1","object":"checkout.session","livemode":false,"mode":"payment","line_items":{"object":"list","has_more":false,
			"data":[{"id":"li_1","object":"item",`+quantity+`"price":{"id":"price_1","object":"price","product":"prod_1"}}]}}`)
		if got := retrieve(t, p).Items[0].Quantity; got != want {
			t.Errorf("%q is %d, want %d", quantity, got, want)
		}
	}
}

// A refund of one item is recognised by what was paid for it, so the amount is the whole line's, after discounts.
func TestALinesAmountIsWhatWasPaidForIt(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string]int64{
		`"quantity":3,"amount_subtotal":3000,"amount_discount":300,"amount_tax":0,"amount_total":2700,"price":{"id":"price_1","unit_amount":1000}`: 2700,
		`"quantity":1,"amount_subtotal":1000,"amount_discount":0,"amount_tax":190,"amount_total":1190,"price":{"id":"price_1","unit_amount":1000}`: 1190,
		`"quantity":1,"amount_subtotal":1000,"amount_discount":1000,"amount_total":0,"price":{"id":"price_1","unit_amount":1000}`:                  0,
		`"quantity":1,"amount_total":null,"price":null`: 0,
		`"quantity":1`: 0,
	} {
		p := answering(t, `{"id":"cs_test_a1","mode":"payment","line_items":{"data":[{"id":"li_1",`+fields+`}]}}`)
		if got := retrieve(t, p).Items[0].Amount; got != want {
			t.Errorf("%s: amount %d, want %d", fields, got, want)
		}
	}
}

// A payment link's session has neither metadata nor a reference of the shop's: its items say what was bought.
func TestAPaymentLinksSessionIsKnownByItsItems(t *testing.T) {
	t.Parallel()
	f := retrieve(t, answering(t, session(`"mode":"payment","status":"complete","payment_status":"paid","amount_total":1200,"currency":"gbp",
		"payment_link":"plink_1","metadata":{},"client_reference_id":null,"customer":null,"submit_type":"donate","success_url":null,
		"customer_details":{"email":"Alex@Example.com","name":null},"payment_intent":"pi_1"`)))
	want := payment.Facts{
		Session: "cs_test_a1", Mode: order.Test, Kind: order.SessionPayment, Status: payment.StatusPaid, PaymentRef: "pi_1",
		Total: order.Money{Minor: 1200, Currency: "gbp"}, Email: "Alex@Example.com", Items: []order.Item{item(1)},
	}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}
