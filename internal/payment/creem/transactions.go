package creem

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"handover/internal/payment"
	"handover/internal/providerhttp"
)

const (
	pageSize = 100
	// maxPages ends an answer that goes on for ever: an order has one transaction, a subscription's a few dozen.
	maxPages = 20
)

// transaction is a movement of money. The API's reference writes its status in one way, the events in another
// (https://docs.creem.io/api-reference/endpoint/get-transactions, https://docs.creem.io/learn/webhooks/event-types): both
// count.
type transaction struct {
	id       string
	order    string
	customer string
	currency string
	status   string // in lower case, without underscores
	oneTime  bool   // a payment; else an invoice of a subscription
	amount   bool   // paid is known
	paid     int64
	refunded int64
	at       time.Time
}

func readTransaction(o providerhttp.Object) transaction {
	t := transaction{
		id: o.ID("id"), order: o.Ref("order"), customer: o.Ref("customer"), currency: o.Name("currency"),
		status:  strings.ToLower(strings.ReplaceAll(o.Text("status"), "_", "")),
		oneTime: o.Text("type") == "payment" && !o.Has("subscription"), at: moment(o, "created_at"),
	}
	t.paid, t.amount = firstWhole(o, "amount_paid", "amount")
	t.refunded, _ = whole(o, "refunded_amount")
	return t
}

// moved says whether the buyer's money came, whatever became of it later. A status that is not known proves nothing.
func (t transaction) moved() bool {
	return t.status == "paid" || t.returned() || t.partly() || t.disputed()
}

func (t transaction) returned() bool { return t.status == "refunded" }
func (t transaction) partly() bool {
	return t.status == "partialrefund" || t.status == "partiallyrefunded"
}
func (t transaction) disputed() bool { return t.status == "chargedback" || t.status == "chargeback" }

// never says that no money came and none is on its way for certain.
func (t transaction) never() bool {
	return t.status == "pending" || t.status == "declined" || t.status == "uncollectible" || t.status == "void"
}

// transactions are those of one order. The list is held against the order: a filter that was not understood would bring
// the refunds of others.
func (p *Provider) transactions(ctx context.Context, ref string) ([]transaction, error) {
	var found []transaction
	for page := 1; ; {
		list, next, err := p.search(ctx, url.Values{"order_id": {ref}}, page)
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			if t.order == ref {
				found = append(found, t)
			}
		}
		if next == 0 {
			return found, nil
		}
		if page = next; page > maxPages {
			return nil, wrong(codeEndlessList)
		}
	}
}

// search reads one page of https://docs.creem.io/api-reference/endpoint/get-transactions; next is 0 on the last one.
func (p *Provider) search(ctx context.Context, query url.Values, page int) (list []transaction, next int, err error) {
	query.Set("page_number", strconv.Itoa(page))
	query.Set("page_size", strconv.Itoa(pageSize))
	o, err := p.get(ctx, "/v1/transactions/search", query)
	if err != nil {
		return nil, 0, err
	}
	if !strings.HasPrefix(string(o["items"]), "[") || o.Object("pagination") == nil {
		return nil, 0, &payment.APIError{} // not a list: nothing in it must not pass for none
	}
	for _, item := range o.List("items") {
		list = append(list, readTransaction(item))
	}
	following, _ := whole(o.Object("pagination"), "next_page")
	if following != 0 && following <= int64(page) {
		return nil, 0, wrong(codeEndlessList)
	}
	return list, int(following), nil
}
