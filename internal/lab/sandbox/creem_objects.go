package sandbox

import (
	"strings"
	"time"
)

const creemStamp = "2006-01-02T15:04:05.000Z"

// creemCheckout is https://docs.creem.io/api-reference/endpoint/get-checkout. A checkout that nobody has finished holds
// its product's id and neither order nor customer; a finished one holds the objects, or in bare form their ids.
func creemCheckout(c Checkout, nested string) object {
	o := object{
		"id": c.ID, "object": "checkout", "mode": c.Mode, "status": c.Status, "units": c.Units,
		"success_url": orNull(c.SuccessURL), "custom_fields": []any{}, "metadata": orEmpty(c.Metadata),
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
		o["order"], o["customer"] = creemOrder(c, nested), creemCustomer(c, nested)
		o["product"] = creemProduct(c, nested)
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

func creemProduct(c Checkout, mode string) object {
	at := c.Created.Format(creemStamp)
	o := object{
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

// creemOrder has the amount without tax in amount, and what was paid in amount_paid.
func creemOrder(c Checkout, mode string) object {
	at := c.Created.Format(creemStamp)
	paidSoFar := int64(0)
	if c.OrderStatus == "paid" {
		paidSoFar = c.Amount
	}
	return object{
		"id": c.Order, "object": "order", "customer": c.Customer, "product": c.Product, "transaction": orNull(c.Transaction),
		"discount": nil, "amount": c.Amount - c.Tax, "sub_total": c.Amount - c.Tax, "tax_amount": c.Tax,
		"discount_amount": 0, "amount_due": c.Amount, "amount_paid": paidSoFar, "currency": c.Currency,
		"fx_amount": nil, "fx_currency": nil, "fx_rate": nil, "status": c.OrderStatus, "type": billing(c),
		"affiliate": nil, "created_at": at, "updated_at": at, "mode": mode,
	}
}

// creemCustomer is https://docs.creem.io/api-reference/endpoint/get-customer.
func creemCustomer(c Checkout, mode string) object {
	at := c.Created.Format(creemStamp)
	return object{
		"id": c.Customer, "object": "customer", "email": c.Email, "name": orNull(c.Name), "country": "NL",
		"created_at": at, "updated_at": at, "mode": mode,
	}
}

// spelling is how a status of a transaction is written: the API's reference and the events differ.
type spelling struct{ partly, disputed string }

var (
	inAPI    = spelling{"partialRefund", "chargedBack"}
	inEvents = spelling{"partially_refunded", "chargeback"}
)

// creemTransaction is https://docs.creem.io/api-reference/endpoint/get-transaction. It names its order and no checkout. A
// chargeback shows as refunded in full.
func creemTransaction(c Checkout, mode string, words spelling) object {
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
	o := object{
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
