package web_test

import (
	"time"

	"handover/internal/order"
)

var testKey = order.Key{Environment: "test", Session: "cs_test_1"}

const orderPath = "/orders/test/cs_test_1"

// bought is an order with everything on record, as it is right after delivery.
func bought(change ...func(*order.View)) order.View {
	confirmed := noon.Add(-time.Minute)
	v := order.View{
		Key:         testKey,
		Facts:       order.Facts{Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailAccepted},
		Total:       order.Money{Minor: 2900, Currency: "eur"},
		Paid:        2900,
		Address:     "alex@example.com",
		CreatedAt:   confirmed,
		ConfirmedAt: &confirmed,
		LinkVersion: 1,
		Items:       []order.Item{{Line: 1, Product: "guide", Name: "Field guide", Quantity: 1}},
		Grants: []order.Grant{
			{ID: 7, Product: "guide", Kind: "download", File: "books/field-guide.pdf", Unit: 1, State: order.AccessGranted},
			{ID: 8, Product: "guide", Kind: "license", Secret: "K3Y5-ABCD-EFGH-JKLM", Unit: 1, State: order.AccessGranted},
		},
		Emails: []order.EmailView{{Generation: 1, State: order.EmailAccepted, Address: "alex@example.com"}},
	}
	for _, c := range change {
		c(&v)
	}
	return v
}

func facts(payment order.PaymentState, access order.AccessState, mail order.EmailState, delivery order.Delivery) func(*order.View) {
	return func(v *order.View) {
		v.Facts = order.Facts{Payment: payment, Access: access, Email: mail, Delivery: delivery}
	}
}

func grantsAre(state order.AccessState) func(*order.View) {
	return func(v *order.View) {
		for i := range v.Grants {
			v.Grants[i].State = state
		}
	}
}

func refunded(v *order.View) { v.Refunded = v.Total.Minor }

// notPaid is an order before its payment: no address shown, nothing granted.
func notPaid(v *order.View) {
	v.ConfirmedAt, v.Grants, v.Emails = nil, nil, nil
}

// states are the orders behind every thing that the page can say.
var states = []struct {
	name string
	view order.View
}{
	{"waiting_for_payment", bought(facts("pending", "pending", "pending", ""), notPaid, func(v *order.View) { v.Items, v.Total, v.Address = nil, order.Money{}, "" })},
	{"payment_processing", bought(facts("pending", "pending", "pending", ""), notPaid, func(v *order.View) { v.Facts.Processing = true })},
	{"payment_failed", bought(facts("failed", "pending", "pending", ""), notPaid)},
	{"preparing", bought(facts("confirmed", "pending", "pending", ""), func(v *order.View) { v.Grants, v.Emails = nil, nil })},
	{"ready_email_pending", bought(facts("confirmed", "granted", "pending", ""))},
	{"ready", bought()},
	{"ready_email_bounced", bought(facts("confirmed", "granted", "accepted", "bounced"))},
	{"on_hold", bought(facts("confirmed", "held", "accepted", ""), grantsAre("held"))},
	{"ended", bought(facts("confirmed", "revoked", "accepted", ""), grantsAre("revoked"), refunded)},
	{"looking_into_it", bought(facts("confirmed", "needs_attention", "pending", ""), func(v *order.View) { v.Grants = nil })},
	{"not_ours", bought(facts("ignored", "pending", "pending", ""), notPaid)},
}
