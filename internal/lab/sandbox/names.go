package sandbox

import (
	"handover/internal/lab/sandbox/core"
	"handover/internal/lab/sandbox/creem"
	"handover/internal/lab/sandbox/resend"
	"handover/internal/lab/sandbox/stripe"
)

// What tests and programs hold in their hands, by one name each.
type (
	Product       = core.Product
	Fault         = core.Fault
	WaitFor       = core.WaitFor
	WebhookCounts = core.WebhookCounts
	Delivery      = core.Delivery

	StripeCounts = stripe.Counts
	Session      = stripe.Session
	Item         = stripe.Item
	Intent       = stripe.Intent
	Batch        = stripe.Batch
	Refund       = stripe.Refund
	Dispute      = stripe.Dispute
	EventRequest = stripe.EventRequest
	MoneyEvents  = stripe.MoneyEvents
	Endpoint     = stripe.Endpoint
	Price        = stripe.Price
	StockItem    = stripe.StockItem

	Checkout    = creem.Checkout
	CreemRefund = creem.Refund
	CreemEvent  = creem.Event

	Message           = resend.Message
	Domain            = resend.Domain
	KeyCount          = resend.KeyCount
	EmailEventRequest = resend.EventRequest
)
