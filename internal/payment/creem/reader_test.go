package creem_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/payment/creem"
)

func moved(fields string) string {
	return `{"id":"tran_1","type":"payment","order":"ord_1","currency":"EUR","amount":1000,"amount_paid":1210,"created_at":1790000000000,` + fields + `}`
}

func TestWhatBecameOfTheMoneyIsReadInEitherSpelling(t *testing.T) {
	t.Parallel()
	paid := order.Money{Minor: 1210, Currency: "EUR"}
	back := func(amount int64, status payment.RefundStatus) []payment.Refund {
		return []payment.Refund{{ID: "tran_1", Amount: amount, Status: status}}
	}
	for _, test := range []struct {
		name, fields string
		want         payment.Reversals
	}{
		{"nothing", `"status":"paid","refunded_amount":null`, payment.Reversals{Paid: paid}},
		{"all", `"status":"refunded","refunded_amount":1210`, payment.Reversals{Paid: paid, Refunds: back(1210, payment.RefundSucceeded)}},
		{"all, without an amount", `"status":"refunded","refunded_amount":null`, payment.Reversals{Paid: paid, Refunds: back(1210, payment.RefundSucceeded)}},
		{"a part, as the API writes it", `"status":"partialRefund","refunded_amount":500`, payment.Reversals{Paid: paid, Refunds: back(500, payment.RefundSucceeded)}},
		{"a part, as the events write it", `"status":"partially_refunded","refunded_amount":500`, payment.Reversals{Paid: paid, Refunds: back(500, payment.RefundSucceeded)}},
		{"an amount without the status", `"status":"paid","refunded_amount":500`, payment.Reversals{Paid: paid, Refunds: back(500, payment.RefundPending)}},
		{"an amount beside an unknown status", `"status":"reviewed","refunded_amount":500`, payment.Reversals{Paid: paid, Refunds: back(500, payment.RefundPending)}},
		{"a chargeback, as the API writes it", `"status":"chargedBack","refunded_amount":1210`, payment.Reversals{Paid: paid, Dispute: order.DisputeOpen}},
		{"a chargeback, as the events write it", `"status":"chargeback","refunded_amount":1210`, payment.Reversals{Paid: paid, Dispute: order.DisputeOpen}},
		{"declined", `"status":"declined"`, payment.Reversals{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, _ := serve(t, map[string]string{transactions: list(moved(test.fields))})
			got, err := p.Reversals(t.Context(), "ord_1")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("reversals (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatCannotBeToldIsAnErrorAndNotNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, ref, answer string
		want              payment.APIError
	}{
		{"a part of unknown size", "ord_1", list(moved(`"status":"partialRefund","refunded_amount":null`)), payment.APIError{Status: 200, Code: "unclear_refund"}},
		{"no transaction", "ord_1", list(), payment.APIError{Status: 404, Code: "not_found"}},
		{"only another's", "ord_2", list(moved(`"status":"refunded"`)), payment.APIError{Status: 404, Code: "not_found"}},
		{"not an order", "pi_1", list(moved(`"status":"paid"`)), payment.APIError{Status: 404, Code: "not_found"}},
		{"not a list", "ord_1", `{"items":{},"pagination":{}}`, payment.APIError{}},
		{"no pagination", "ord_1", `{"items":[]}`, payment.APIError{}},
		{"the same page again for ever", "ord_1", `{"items":[],"pagination":{"next_page":1}}`, payment.APIError{Status: 200, Code: "endless_list"}},
		{"pages without end", "ord_1", "", payment.APIError{Status: 200, Code: "endless_list"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if test.answer != "" {
					_, _ = io.WriteString(w, test.answer)
					return
				}
				var page int
				_, _ = fmt.Sscan(r.URL.Query().Get("page_number"), &page)
				fmt.Fprintf(w, `{"items":[],"pagination":{"next_page":%d}}`, page+1)
			}))
			t.Cleanup(s.Close)
			r, err := provider(t, func(c *creem.Config) { c.APIURL = s.URL }).Reversals(t.Context(), test.ref)
			var e *payment.APIError
			if !errors.As(err, &e) || *e != test.want {
				t.Errorf("reversals %+v, error %+v; want %+v", r, err, test.want)
			}
		})
	}
}

// sale is a paid transaction of an order, made so many hours before now.
func sale(now time.Time, n, hours int) string {
	return fmt.Sprintf(`{"id":"tran_%d","type":"payment","status":"paid","order":"ord_%d","amount_paid":100,"currency":"EUR","created_at":%d}`,
		n, n, now.Add(-time.Duration(hours)*time.Hour).UnixMilli())
}

// pages serves transactions, two a page, in the order given.
func pages(t *testing.T, all ...string) (*creem.Provider, *int) {
	t.Helper()
	asked := new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		var page int
		_, _ = fmt.Sscan(r.URL.Query().Get("page_number"), &page)
		next := "null"
		if 2*page < len(all) {
			next = fmt.Sprint(page + 1)
		}
		items := all[min(2*(page-1), len(all)):min(2*page, len(all))]
		fmt.Fprintf(w, `{"items":[%s],"pagination":{"current_page":%d,"next_page":%s}}`, strings.Join(items, ","), page, next)
	}))
	t.Cleanup(s.Close)
	return provider(t, func(c *creem.Config) { c.APIURL = s.URL }), asked
}

func listed(t *testing.T, p *creem.Provider, since time.Time) (refs []string) {
	t.Helper()
	for cursor, first := "", true; first || cursor != ""; first = false {
		page, next, err := p.PaidSessions(t.Context(), since, cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range page {
			if s.Session != "" {
				t.Errorf("a session from nowhere: %+v", s)
			}
			refs = append(refs, s.Ref)
		}
		cursor = next
	}
	return refs
}

// The order of Creem's list is not documented. Where it is the newest first, old pages are not read.
func TestNoSaleIsMissedInWhateverOrderTheListIs(t *testing.T) {
	t.Parallel()
	now := time.Now()
	newest := []string{sale(now, 1, 1), sale(now, 2, 20), sale(now, 3, 40), sale(now, 4, 200), sale(now, 5, 300), sale(now, 6, 400), sale(now, 7, 500), sale(now, 8, 600)}
	oldest := []string{newest[7], newest[6], newest[5], newest[4], newest[3], newest[2], newest[1], newest[0]}
	mixed := []string{newest[7], newest[6], newest[0], newest[5], newest[2], newest[4], newest[1], newest[3]}
	for _, test := range []struct {
		name  string
		all   []string
		want  []string
		pages int
	}{
		{"newest first", newest, []string{"ord_1", "ord_2", "ord_3"}, 3},
		{"oldest first", oldest, []string{"ord_3", "ord_2", "ord_1"}, 4},
		{"in no order", mixed, []string{"ord_1", "ord_3", "ord_2"}, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, asked := pages(t, test.all...)
			if diff := cmp.Diff(test.want, listed(t, p, now.Add(-48*time.Hour))); diff != "" {
				t.Errorf("sales (-want +got):\n%s", diff)
			}
			if *asked != test.pages {
				t.Errorf("%d pages were read, want %d", *asked, test.pages)
			}
		})
	}
}

func TestOnlyWhatCanBeASaleOfOursIsListed(t *testing.T) {
	t.Parallel()
	now := time.Now()
	base := sale(now, 1, 1)
	with := func(old, new string) string { return strings.Replace(base, old, new, 1) }
	for name, test := range map[string]struct {
		item string
		want bool
	}{
		"paid":                  {base, true},
		"refunded":              {with(`"paid"`, `"refunded"`), true},
		"charged back":          {with(`"paid"`, `"chargedBack"`), true},
		"an unknown status":     {with(`"paid"`, `"settled"`), true},
		"its order an object":   {with(`"ord_1"`, `{"id":"ord_1"}`), true},
		"no time":               {with(`"created_at"`, `"created"`), true},
		"in seconds":            {with(fmt.Sprint(now.Add(-time.Hour).UnixMilli()), fmt.Sprint(now.Add(-time.Hour).Unix())), true},
		"pending":               {with(`"paid"`, `"pending"`), false},
		"declined":              {with(`"paid"`, `"declined"`), false},
		"void":                  {with(`"paid"`, `"void"`), false},
		"nothing to pay":        {with(`"amount_paid":100`, `"amount_paid":0`), false},
		"no order":              {with(`"ord_1"`, `null`), false},
		"of a long time ago":    {sale(now, 1, 24*60), false},
		"a day before the time": {sale(now, 1, 48+23), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := pages(t, test.item)
			if got := listed(t, p, now.Add(-48*time.Hour)); (len(got) == 1) != test.want {
				t.Errorf("listed %v, want %v", got, test.want)
			}
		})
	}
}

// A first card was declined, or an order has an invoice a month: it is one order all the same.
func TestAnOrderOfSeveralTransactionsIsListedOnce(t *testing.T) {
	t.Parallel()
	now := time.Now()
	again := strings.Replace(sale(now, 1, 1), "tran_1", "tran_2", 1)
	p, _ := pages(t, sale(now, 1, 1), again)
	if diff := cmp.Diff([]string{"ord_1"}, listed(t, p, now.Add(-time.Hour))); diff != "" {
		t.Errorf("sales (-want +got):\n%s", diff)
	}
}

func TestACursorOfSomebodyElsesIsRefused(t *testing.T) {
	t.Parallel()
	p, asked := pages(t)
	for _, cursor := range []string{"ch_1", "0", "-1", "1.5"} {
		if _, _, err := p.PaidSessions(t.Context(), time.Now(), cursor); err == nil || *asked > 0 {
			t.Errorf("%q: error %v after %d calls", cursor, err, *asked)
		}
	}
}
