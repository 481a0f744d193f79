package stripe

import (
	"cmp"
	"context"
	"slices"
	"strings"

	sdk "github.com/stripe/stripe-go/v85"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/providerhttp"
)

// money is all that Stripe says of one payment. What an answer lacked is nil.
type money struct {
	intent   *sdk.PaymentIntent
	charge   *sdk.Charge
	refunds  []*sdk.Refund
	disputes []*sdk.Dispute
}

// Reversals reads the payment, its refunds and its disputes as they stand now (https://docs.stripe.com/refunds,
// https://docs.stripe.com/disputes). It is a read: safe to repeat. Its errors are *payment.APIError; a payment that Stripe
// does not know is a 404.
func (p *Provider) Reversals(ctx context.Context, ref string) (payment.Reversals, error) {
	if ref = reference(ref); ref == "" {
		return payment.Reversals{}, errMissing()
	}
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	m, err := onAccount(p, func(a account) (money, error) { return a.money(ctx, ref) })
	if err != nil {
		return payment.Reversals{}, err
	}
	dispute := m.disputed()
	return payment.Reversals{Paid: m.paid(), Refunds: m.refunded(), Dispute: dispute, Disputed: m.disputedAmount(dispute)}, nil
}

func (a account) money(ctx context.Context, ref string) (m money, err error) {
	intent, charge, err := a.paymentOf(ctx, ref)
	if err != nil {
		return m, err
	}
	if intent != "" {
		m.intent, m.charge, err = a.intent(ctx, intent)
	} else {
		m.charge, err = a.charge(ctx, charge)
	}
	if err != nil {
		return m, err
	}
	if m.refunds, err = a.refunds(ctx, filter(intent), filter(charge)); err != nil && !isMissing(err) {
		return m, err
	}
	if m.disputes, err = a.disputes(ctx, filter(intent), filter(charge)); err != nil && !isMissing(err) {
		return m, err
	}
	if m.intent == nil && m.charge == nil && len(m.refunds) == 0 && len(m.disputes) == 0 {
		return m, errMissing()
	}
	return m, nil
}

func filter(id string) *string {
	if id == "" {
		return nil
	}
	return &id
}

// intent retrieves a payment intent and its charge (https://docs.stripe.com/api/payment_intents/retrieve). What Stripe
// does not know of them is nil.
func (a account) intent(ctx context.Context, id string) (*sdk.PaymentIntent, *sdk.Charge, error) {
	watched, answer := providerhttp.Watch(ctx)
	params := &sdk.PaymentIntentRetrieveParams{}
	params.StripeAccount = a.header()
	params.AddExpand("latest_charge")
	pi, err := a.client.V1PaymentIntents.Retrieve(watched, id, params)
	switch err = about(answer, err, id, pi.ID); {
	case isMissing(err):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	ch := pi.LatestCharge
	if ch == nil || ch.Object != "" || reference(ch.ID) == "" {
		return pi, ch, nil
	}
	if ch, err = a.charge(ctx, ch.ID); err != nil { // it was not expanded
		return nil, nil, err
	}
	return pi, ch, nil
}

// refunds is https://docs.stripe.com/api/refunds/list, all of it.
func (a account) refunds(ctx context.Context, intent, charge *string) ([]*sdk.Refund, error) {
	ctx, answer := providerhttp.Watch(ctx)
	return listing[sdk.Refund]{
		id: func(r *sdk.Refund) string { return r.ID },
		page: func(after string) *sdk.V1List[*sdk.Refund] {
			return a.client.V1Refunds.List(ctx, &sdk.RefundListParams{ListParams: a.paged(after), PaymentIntent: intent, Charge: charge})
		},
	}.rest(answer, nil, true)
}

// disputes is https://docs.stripe.com/api/disputes/list, all of it.
func (a account) disputes(ctx context.Context, intent, charge *string) ([]*sdk.Dispute, error) {
	ctx, answer := providerhttp.Watch(ctx)
	return listing[sdk.Dispute]{
		id: func(d *sdk.Dispute) string { return d.ID },
		page: func(after string) *sdk.V1List[*sdk.Dispute] {
			return a.client.V1Disputes.List(ctx, &sdk.DisputeListParams{ListParams: a.paged(after), PaymentIntent: intent, Charge: charge})
		},
	}.rest(answer, nil, true)
}

// paid is what has arrived, before anything was given back.
func (m money) paid() order.Money {
	var fromIntent, fromCharge order.Money
	if pi := m.intent; pi != nil {
		fromIntent = order.Money{Minor: pi.AmountReceived, Currency: string(pi.Currency)}
	}
	if ch := m.charge; ch != nil && ch.Paid {
		fromCharge = order.Money{Minor: captured(ch), Currency: string(ch.Currency)}
	}
	if fromIntent.Minor == 0 && fromCharge.Minor != 0 {
		return fromCharge
	}
	return fromIntent
}

func captured(ch *sdk.Charge) int64 { return cmp.Or(ch.AmountCaptured, ch.Amount) }

// refunded lists the refunds. Where there is no list, the charge's own figures stand for it: they count a pending refund,
// too, so they are asked only then (https://docs.stripe.com/api/charges/object#charge_object-amount_refunded).
func (m money) refunded() []payment.Refund {
	var list []payment.Refund
	for _, r := range m.withoutRelease() {
		list = append(list, payment.Refund{ID: r.ID, Amount: r.Amount, Status: refundStatus(r.Status)})
	}
	ch := m.charge
	if len(m.refunds) > 0 || ch == nil {
		return list
	}
	if back := ch.AmountRefunded - released(ch); ch.Refunded || back > 0 {
		list = append(list, payment.Refund{ID: ch.ID, Amount: cmp.Or(max(back, 0), captured(ch)), Status: payment.RefundSucceeded})
	}
	return list
}

// released is what of an authorisation was not captured. Stripe gives it back as a refund, which is none: it was never
// paid (https://docs.stripe.com/payments/place-a-hold-on-a-payment-method#capture-funds).
func released(ch *sdk.Charge) int64 {
	if ch == nil || ch.AmountCaptured == 0 || ch.AmountCaptured > ch.Amount {
		return 0
	}
	return ch.Amount - ch.AmountCaptured
}

// withoutRelease are the refunds but for the one that stands for the release: the oldest of just that amount, because it
// comes with the capture. A list begins with the newest.
func (m money) withoutRelease() []*sdk.Refund {
	amount := released(m.charge)
	for i := len(m.refunds) - 1; i >= 0 && amount > 0; i-- {
		if r := m.refunds[i]; r.Amount == amount && refundStatus(r.Status) == payment.RefundSucceeded {
			return slices.Delete(slices.Clone(m.refunds), i, i+1)
		}
	}
	return m.refunds
}

// refundStatus reads https://docs.stripe.com/api/refunds/object#refund_object-status. A value that is missing or unknown
// proves nothing: such a refund counts as pending, which takes nothing away.
func refundStatus(s sdk.RefundStatus) payment.RefundStatus {
	switch s {
	case sdk.RefundStatusSucceeded:
		return payment.RefundSucceeded
	case sdk.RefundStatusFailed, sdk.RefundStatusCanceled:
		return payment.RefundFailed
	}
	return payment.RefundPending
}

// gravity orders the states of disputes.
var gravity = map[order.Dispute]int{
	order.DisputeNone: 0, order.DisputeInquiry: 1, order.DisputeWon: 2, order.DisputeOpen: 3, order.DisputeLost: 4,
}

// disputed is the gravest of the disputes. A charge that is said to be disputed, without a list that tells more, counts as
// one that is open: holding access can be undone.
func (m money) disputed() (gravest order.Dispute) {
	for _, d := range m.disputes {
		if s := disputeStatus(d.Status); gravity[s] > gravity[gravest] {
			gravest = s
		}
	}
	if len(m.disputes) == 0 && m.charge != nil && m.charge.Disputed {
		return order.DisputeOpen
	}
	return gravest
}

// disputedAmount is what the disputes in the state are about; 0 for one that is not about the charge's currency.
func (m money) disputedAmount(state order.Dispute) (total int64) {
	for _, d := range m.disputes {
		if disputeStatus(d.Status) != state || state == order.DisputeNone {
			continue
		}
		if string(d.Currency) != m.paid().Currency {
			return 0
		}
		total += d.Amount
	}
	return total
}

// disputeStatus reads https://docs.stripe.com/api/disputes/object#dispute_object-status. An inquiry that was closed and a
// dispute that was prevented have moved no money for good. A value that is missing or unknown counts as open, because
// holding access can be undone and revoking it cannot; one of the warnings' family is an inquiry.
func disputeStatus(s sdk.DisputeStatus) order.Dispute {
	switch s {
	case sdk.DisputeStatusWarningClosed, sdk.DisputeStatusPrevented:
		return order.DisputeNone
	case sdk.DisputeStatusWon:
		return order.DisputeWon
	case sdk.DisputeStatusLost:
		return order.DisputeLost
	}
	if strings.HasPrefix(string(s), "warning_") {
		return order.DisputeInquiry
	}
	return order.DisputeOpen
}
