package creem

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"handover/internal/order"
	"handover/internal/payment"
)

// reach is how much earlier than a payment its transaction may have been created. Creem calls the time the creation of
// the order, which begins when the buyer does.
const reach = 24 * time.Hour

// SessionOf knows no answer: nothing in Creem's API leads from an order or a transaction to its checkout. Checkouts are
// retrieved by their own id only (https://docs.creem.io/api-reference/endpoint/get-checkout), and neither
// https://docs.creem.io/api-reference/endpoint/get-transaction nor
// https://docs.creem.io/api-reference/endpoint/list-customer-orders names one. An order is recognised by the reference
// that was recorded when its checkout was confirmed.
func (p *Provider) SessionOf(context.Context, string) (string, error) { return "", nil }

// Reversals reads the transactions of an order. Creem adds the refunds of a transaction up and lists none of them, so there
// is at most one for each transaction, under the transaction's id; a refund on its way is seen only where the amount
// comes before the status does. A chargeback is an open dispute: Creem has no event for a dispute's end, and a
// transaction whose status leaves it has none any more. The amount taken back by a chargeback is no refund.
func (p *Provider) Reversals(ctx context.Context, ref string) (payment.Reversals, error) {
	if !orderID.MatchString(ref) {
		return payment.Reversals{}, missing()
	}
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	list, err := p.transactions(ctx, ref)
	if err != nil {
		return payment.Reversals{}, err
	}
	if len(list) == 0 {
		return payment.Reversals{}, missing() // an order that is not known is not one without refunds
	}
	var r payment.Reversals
	for _, t := range list {
		if t.never() {
			continue
		}
		if r.Paid.Currency == "" || r.Paid.Currency == t.currency {
			r.Paid = order.Money{Minor: r.Paid.Minor + t.paid, Currency: t.currency}
		}
		if t.disputed() {
			r.Dispute = order.DisputeOpen
			continue
		}
		refund, found, err := t.refund()
		if err != nil {
			return payment.Reversals{}, err
		}
		if found {
			r.Refunds = append(r.Refunds, refund)
		}
	}
	return r, nil
}

// refund is what the transaction gave back. It counts as succeeded where the status says so; an amount without the status
// is on its way. A refund without a readable amount needs a person.
func (t transaction) refund() (r payment.Refund, found bool, err error) {
	r = payment.Refund{ID: t.id, Amount: t.refunded, Status: payment.RefundPending}
	switch {
	case t.returned() && t.refunded == 0 && t.amount:
		r.Amount, r.Status = t.paid, payment.RefundSucceeded
	case t.returned(), t.partly():
		if t.refunded == 0 {
			return r, false, wrong(codeUnclear)
		}
		r.Status = payment.RefundSucceeded
	}
	return r, r.Amount > 0, nil
}

// PaidSessions lists the orders that were paid, by page of the transactions. Their sessions are empty: the list names the
// order only (see SessionOf), so a sale can be recognised by its reference, and one that is not known cannot be
// delivered from here; its event can be sent again from Creem's dashboard. A sale of nothing has no reference to be
// recognised by and is left out, and so is what no money came for; a payment that is pending is listed once it is paid.
//
// The search has no filter by time, and its order is not documented. It ends at the first page that is older than since,
// provided that page shows the newest first; else every page is read.
func (p *Provider) PaidSessions(ctx context.Context, since time.Time, cursor string) (sales []order.Sale, next string, err error) {
	list, following, err := p.everything(ctx, cursor)
	if err != nil {
		return nil, "", err
	}
	earliest := since.Add(-reach)
	seen := map[string]bool{}
	for _, t := range list {
		old := !t.at.IsZero() && t.at.Before(earliest)
		if old || t.never() || t.order == "" || t.amount && t.paid == 0 || seen[t.order] {
			continue
		}
		seen[t.order] = true
		sale := order.Sale{Ref: t.order, Kind: order.SessionOther, At: t.at}
		if t.oneTime {
			sale.Kind = order.SessionPayment
		}
		sales = append(sales, sale)
	}
	if following == 0 || allOlder(list, earliest) {
		return sales, "", nil
	}
	return sales, strconv.Itoa(following), nil
}

// everything reads one page of all transactions.
func (p *Provider) everything(ctx context.Context, cursor string) (list []transaction, following int, err error) {
	page := 1
	if cursor != "" {
		if page, err = strconv.Atoi(cursor); err != nil || page < 1 {
			return nil, 0, fmt.Errorf("creem: %q is not a cursor", cursor)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	return p.search(ctx, url.Values{}, page)
}

// refundable is how old a payment may be whose refunds are looked for: the search names no time of theirs.
const refundable = 60 * 24 * time.Hour

// ReversalsSince lists the transactions that were refunded or charged back, of the payments of 60 days before the time.
func (p *Provider) ReversalsSince(ctx context.Context, since time.Time, cursor string) (reversed []order.Reversed, next string, err error) {
	list, following, err := p.everything(ctx, cursor)
	if err != nil {
		return nil, "", err
	}
	earliest := since.Add(-refundable)
	for _, t := range list {
		old := !t.at.IsZero() && t.at.Before(earliest)
		if old || t.order == "" || !t.returned() && !t.partly() && !t.disputed() {
			continue
		}
		r := order.Reversed{Ref: t.order, Refunded: t.refunded, Disputed: t.disputed()}
		if t.returned() && r.Refunded == 0 {
			r.Refunded = t.paid
		}
		reversed = append(reversed, r)
	}
	if following == 0 || allOlder(list, earliest) {
		return reversed, "", nil
	}
	return reversed, strconv.Itoa(following), nil
}

// allOlder says that the page shows the newest first and that all of it is older than the time, so that every later page
// is older still.
func allOlder(list []transaction, than time.Time) bool {
	if len(list) < 2 || !list[0].at.After(list[len(list)-1].at) {
		return false
	}
	for i, t := range list {
		if t.at.IsZero() || !t.at.Before(than) || i > 0 && t.at.After(list[i-1].at) {
			return false
		}
	}
	return true
}
