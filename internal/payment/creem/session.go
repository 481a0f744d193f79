package creem

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/providerhttp"
)

// Session retrieves a checkout (https://docs.creem.io/api-reference/endpoint/get-checkout), the transactions of
// its order, and its customer where the answer holds only the id. It is a read: safe to repeat. Its errors are
// *payment.APIError.
func (p *Provider) Session(ctx context.Context, id string) (payment.Facts, error) {
	if !validSession(id) {
		return payment.Facts{}, missing()
	}
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	checkout, err := p.get(ctx, "/v1/checkouts", url.Values{"checkout_id": {id}})
	if err != nil {
		return payment.Facts{}, err
	}
	if checkout.ID("id") != id {
		return payment.Facts{}, wrong(codeWrongCheckout)
	}
	s := soldBy(checkout.Object("order"))
	reversed, err := p.reversed(ctx, checkout, &s)
	if err != nil {
		return payment.Facts{}, err
	}
	f := payment.Facts{
		Session: id, Created: s.at, PaidAt: s.at, Mode: p.factsMode(checkout), Kind: kind(checkout, s), Status: status(checkout, s),
		PaymentRef: checkout.Ref("order"), Total: s.total, Items: items(checkout, s), Parts: s.parts, Reversed: reversed,
	}
	if f.Status == payment.StatusFree {
		f.PaymentRef = ""
	}
	f.Email, f.Name, err = p.buyer(ctx, checkout, s, f.Status)
	return f, err
}

// sale is what is known of the money of a checkout.
type sale struct {
	kind     string // onetime, recurring, or empty
	paid     bool
	amount   bool // total is known
	due      int64
	total    order.Money
	parts    []int64   // tax and discount
	customer string    // id
	product  string    // id
	at       time.Time // when it was made: Creem tells it of a checkout's order and transactions only
}

// soldBy reads a checkout's order: its status is pending or paid, and amount_paid is what the buyer paid, with tax. An
// order of before the amounts with tax were added has amount only.
func soldBy(o providerhttp.Object) sale {
	s := sale{
		kind: o.Text("type"), paid: o.Text("status") == "paid", customer: o.Ref("customer"), product: o.Ref("product"),
		at: moment(o, "created_at"),
	}
	s.total.Minor, s.amount = firstWhole(o, "amount_paid", "amount_due", "amount")
	s.total.Currency = o.Name("currency")
	s.due, _ = whole(o, "amount_due")
	for _, name := range []string{"tax_amount", "discount_amount"} {
		if part, _ := whole(o, name); part > 0 {
			s.parts = append(s.parts, part)
		}
	}
	return s
}

// reversed reads the transactions of a finished checkout: its order says paid for ever, whatever became of the money.
// They also say what was paid where the checkout holds its order's id only.
func (p *Provider) reversed(ctx context.Context, checkout providerhttp.Object, s *sale) (bool, error) {
	ref, whole := checkout.Ref("order"), checkout.Object("order") != nil
	if ref == "" || !finished(checkout) || whole && !s.paid {
		return false, nil
	}
	list, err := p.transactions(ctx, ref)
	if err != nil {
		return false, err
	}
	found := false
	for _, t := range list {
		if s.at.IsZero() || !t.at.IsZero() && t.at.Before(s.at) {
			s.at = t.at
		}
		found = found || t.returned() || t.partly() || t.disputed() || t.refunded > 0
		if !whole && t.moved() {
			s.add(t)
		}
	}
	return found, nil
}

func (s *sale) add(t transaction) {
	s.paid, s.amount, s.customer, s.kind = true, true, t.customer, "recurring"
	s.total = order.Money{Minor: s.total.Minor + t.paid, Currency: t.currency}
	if t.oneTime {
		s.kind = "onetime"
	}
}

// factsMode is what the checkout says of itself. One that does not say is of the key's mode, because test and live are
// two APIs that do not know each other's objects; a word that is not known contradicts any environment.
func (p *Provider) factsMode(checkout providerhttp.Object) order.Mode {
	if !checkout.Has("mode") {
		return p.mode
	}
	return modeOf(checkout.Text("mode"))
}

func finished(checkout providerhttp.Object) bool {
	word := checkout.Text("status")
	return word == "completed" || word == "expired"
}

// kind is a payment where everything that says something says onetime. An unfinished checkout may not say anything yet,
// and gives nothing either: it is not given up as another's.
func kind(checkout providerhttp.Object, s sale) order.SessionKind {
	if checkout.Has("subscription") {
		return order.SessionOther
	}
	words := []string{s.kind, checkout.Object("product").Text("billing_type")}
	said := false
	for _, word := range words {
		if word != "" && word != "onetime" {
			return order.SessionOther
		}
		said = said || word != ""
	}
	if said || checkout.Text("status") != "completed" {
		return order.SessionPayment
	}
	return order.SessionOther
}

// status takes completed for paid only where the order is paid too: completed alone does not mean that the money came. A
// value that is missing or unknown proves nothing: such a checkout counts as open.
func status(checkout providerhttp.Object, s sale) payment.SessionStatus {
	switch word := checkout.Text("status"); {
	case finished(checkout) && s.paid:
		switch {
		case !s.amount || s.total.Minor > 0:
			return payment.StatusPaid
		case s.due > 0: // paid, with nothing paid of what was due
			return payment.StatusProcessing
		}
		return payment.StatusFree
	case word == "completed", word == "processing":
		return payment.StatusProcessing
	case word == "expired":
		return payment.StatusExpired
	}
	return payment.StatusOpen
}

// items is the one line of a checkout: a product and how many units of it.
func items(checkout providerhttp.Object, s sale) []order.Item {
	id := cmp.Or(checkout.Ref("product"), s.product)
	if id == "" {
		return nil
	}
	units, ok := whole(checkout, "units")
	if !ok || units == 0 {
		units = 1
	}
	return []order.Item{{
		Line: 1, Refs: []string{id}, Name: clean(checkout.Object("product").Text("name")), Quantity: units, Amount: s.total.Minor,
	}}
}

// buyer is the checkout's customer. Where the answer holds the id only, the customer is asked for
// (https://docs.creem.io/api-reference/endpoint/get-customer), but not before there is something to send. One that is
// gone leaves the address empty.
func (p *Provider) buyer(ctx context.Context, checkout providerhttp.Object, s sale, st payment.SessionStatus) (email, name string, err error) {
	customer := checkout.Object("customer")
	id := cmp.Or(checkout.Ref("customer"), s.customer)
	if customer == nil && id != "" && (st == payment.StatusPaid || st == payment.StatusFree) {
		customer, err = p.get(ctx, "/v1/customers", url.Values{"customer_id": {id}})
		var failed *payment.APIError
		if errors.As(err, &failed) && failed.Status == http.StatusNotFound {
			return "", "", nil
		}
		if err != nil {
			return "", "", err
		}
		if customer.ID("id") != id {
			return "", "", nil
		}
	}
	return clean(customer.Text("email")), clean(customer.Text("name")), nil
}
