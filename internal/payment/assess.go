package payment

import "handover/internal/order"

// Assess says what the facts make of the order: what its payment is, what is owed on it, and why a person has to decide
// where one has to. Amounts decide nothing: promotion codes, taxes and currency conversion change them
// (https://docs.stripe.com/checkout/fulfillment).
func Assess(key order.Key, mode order.Mode, c *order.Catalogue, f Facts) order.Assessment {
	p := order.Assessment{Key: key, Ref: f.PaymentRef, Total: f.Total, Email: f.Email, Name: f.Name, Parts: f.Parts, Reversed: f.Reversed}
	items, ours, unknown := c.Match(f.Items)
	p.Items = items
	if email, ok := order.CleanAddress(f.Email); ok {
		p.Email = email
	} else {
		p.Email = ""
	}
	switch {
	case f.Mode != mode:
		p.State, p.Reason, p.Class = order.PaymentAttention, order.ReasonModeContradicts, order.ClassPermanent
	case f.Kind != order.SessionPayment:
		p.State = order.PaymentIgnored
	case f.Status == StatusPaid || f.Status == StatusFree:
		assessItems(c, &p, ours, unknown)
	case f.Status == StatusFailed || f.Status == StatusExpired:
		p.State = order.PaymentFailed
	default:
		p.State, p.Processing, p.ToPay = order.PaymentPending, f.Status == StatusProcessing || f.Status == StatusToPay, f.Status == StatusToPay
	}
	return p
}

func assessItems(c *order.Catalogue, p *order.Assessment, ours, unknown int) {
	switch {
	case len(p.Items) == 0: // paid, and for what is not known
		p.Reason, p.Class = order.ReasonItemsUnknown, order.ClassPermanent
	case ours == 0:
		p.State = order.PaymentIgnored
		return
	case unknown > 0:
		p.Reason, p.Class = order.ReasonItemsUnknown, order.ClassPermanent
	default:
		p.Entitlements = c.Entitlements(p.Items)
		if p.Email == "" {
			p.Reason, p.Class = order.ReasonNoAddress, order.ClassPermanent
		}
	}
	p.State = order.PaymentConfirmed
}
