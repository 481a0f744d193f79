package creem

import (
	"strings"
	"time"

	"handover/internal/lab/sandbox/core"
)

const stamp = "2006-01-02T15:04:05.000Z"

// checkoutObject is https://docs.creem.io/api-reference/endpoint/get-checkout. A checkout that nobody has finished holds
// its product's id and neither order nor customer; a finished one holds the objects, or in bare form their ids.
func checkoutObject(c Checkout, nested string) core.Object {
	o := core.Object{
		"id": c.ID, "object": "checkout", "mode": c.Mode, "status": c.Status, "units": c.Units,
		"success_url": core.OrNull(c.SuccessURL), "custom_fields": []any{}, "metadata": core.OrEmpty(c.Metadata),
		"product": any(c.Product),
	}
	if c.RequestID != "" {
		o["request_id"] = c.RequestID
	}
	if c.Order == "" {
		return o
	}
	o["order"], o["customer"] = any(c.Order), any(c.Customer)
	if c.Recurring {
		o["subscription"] = subscriptionID(c)
	}
	if !c.Bare {
		o["order"], o["customer"] = orderObject(c, nested), customerObject(c, nested)
		o["product"] = productObject(c, nested)
	}
	return o
}

func subscriptionID(c Checkout) string { return "sub_" + strings.TrimPrefix(c.Order, "ord_") }

func billing(c Checkout) string {
	if c.Recurring {
		return "recurring"
	}
	return "onetime"
}

func productObject(c Checkout, mode string) core.Object {
	at := c.Created.Format(stamp)
	o := core.Object{
		"id": c.Product, "object": "product", "name": c.ProductName, "description": c.ProductName, "image_url": nil,
		"price": (c.Amount - c.Tax) / c.Units, "currency": c.Currency, "billing_type": billing(c), "billing_period": "once",
		"status": "active", "tax_mode": "exclusive", "tax_category": "ebooks", "default_success_url": nil,
		"created_at": at, "updated_at": at, "mode": mode,
	}
	if c.Recurring {
		o["billing_period"] = "every-month"
	}
	return o
}

// orderObject has the amount without tax in amount, and what was paid in amount_paid.
func orderObject(c Checkout, mode string) core.Object {
	at := c.Created.Format(stamp)
	paidSoFar := int64(0)
	if c.OrderStatus == "paid" {
		paidSoFar = c.Amount
	}
	return core.Object{
		"id": c.Order, "object": "order", "customer": c.Customer, "product": c.Product, "transaction": core.OrNull(c.Transaction),
		"discount": nil, "amount": c.Amount - c.Tax, "sub_total": c.Amount - c.Tax, "tax_amount": c.Tax,
		"discount_amount": 0, "amount_due": c.Amount, "amount_paid": paidSoFar, "currency": c.Currency,
		"fx_amount": nil, "fx_currency": nil, "fx_rate": nil, "status": c.OrderStatus, "type": billing(c),
		"affiliate": nil, "created_at": at, "updated_at": at, "mode": mode,
	}
}

// customerObject is https://docs.creem.io/api-reference/endpoint/get-customer.
func customerObject(c Checkout, mode string) core.Object {
	at := c.Created.Format(stamp)
	return core.Object{
		"id": c.Customer, "object": "customer", "email": c.Email, "name": core.OrNull(c.Name), "country": "NL",
		"created_at": at, "updated_at": at, "mode": mode,
	}
}

// spelling is how a status of a transaction is written: the API's reference and the events differ.
type spelling struct{ partly, disputed string }

var (
	inAPI    = spelling{"partialRefund", "chargedBack"}
	inEvents = spelling{"partially_refunded", "chargeback"}
)

// transactionObject is https://docs.creem.io/api-reference/endpoint/get-transaction. It names its order and no checkout. A
// chargeback shows as refunded in full.
func transactionObject(c Checkout, mode string, words spelling) core.Object {
	paidSoFar, back, status := c.Amount, c.refunded(), "paid"
	switch {
	case c.OrderStatus != "paid":
		paidSoFar, status = 0, "pending"
	case c.Dispute != "":
		back, status = c.Amount, words.disputed
	case back >= c.Amount:
		status = "refunded"
	case back > 0:
		status = words.partly
	}
	o := core.Object{
		"id": c.Transaction, "object": "transaction", "amount": c.Amount - c.Tax, "amount_paid": paidSoFar,
		"discount_amount": 0, "currency": c.Currency, "type": "payment", "tax_country": "NL", "tax_amount": c.Tax,
		"status": status, "refunded_amount": back, "order": c.Order, "subscription": nil, "customer": c.Customer,
		"description": "Payment", "created_at": c.Created.UnixMilli(), "mode": mode,
	}
	if c.Recurring {
		o["type"], o["description"], o["subscription"] = "invoice", "Subscription payment", subscriptionID(c)
		o["period_start"], o["period_end"] = c.Created.UnixMilli(), c.Created.Add(30*24*time.Hour).UnixMilli()
	}
	return o
}
