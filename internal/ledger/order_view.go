package ledger

import (
	"slices"
	"strconv"

	"handover/internal/order"
)

// orderParts are the rows of one order.
type orderParts struct {
	row       orderRow
	attention []order.Stopped // the most urgent first
	items     []order.Item
	grants    []order.Grant
	access    []accessRow // obligations of both kinds, access and access_change
	emails    []emailRow  // oldest generation first
	evidence  []evidenceRow
}

func (p orderParts) view() order.View {
	row := p.row
	v := order.View{
		Key: row.Key, Facts: order.Facts{Payment: row.Payment, Processing: row.Processing, ToPay: row.ToPay},
		Attention: p.attention, Items: p.items, Grants: p.grants, Emails: p.generations(),
		Total: order.Money{Minor: row.Amount, Currency: row.Currency}, Paid: row.Paid, PaymentRef: row.PaymentRef,
		Refunded: row.Refunded, RefundPending: row.RefundPending, Dispute: row.Dispute, ReversalDue: row.ReversalDue,
		Address: row.Address, CreatedAt: row.CreatedAt, ConfirmedAt: row.ConfirmedAt, CheckedAt: row.CheckedAt, OpenedAt: row.OpenedAt, DownloadedAt: row.DownloadedAt,
		LinkVersion: row.LinkVersion, Reference: row.Reference, Found: row.Found,
	}
	for i, s := range p.attention {
		if i == 0 {
			v.Reason, v.Class = s.Reason, s.Class
		}
		if v.AttentionAt == nil || s.Since.Before(*v.AttentionAt) {
			v.AttentionAt = &s.Since
		}
	}
	for _, a := range p.access {
		v.AccessChangeDue = v.AccessChangeDue || a.Kind == KindAccessChange && !a.Finished && !a.Stopped
	}
	v.Facts.Access = p.accessState()
	if row.RevokeAsked && row.Payment == order.PaymentConfirmed {
		v.Facts.Access = order.AccessRevoked // at once, also while no worker decides it
	}
	v.Facts.Email, v.Facts.Delivery = emailState(v.Emails)
	return v
}

// generations are the emails, each with the strongest evidence of what became of it.
func (p orderParts) generations() []order.EmailView {
	strongest := map[string]evidenceRow{}
	for _, e := range p.evidence {
		if e.Delivery.Rank() > strongest[e.Subject].Delivery.Rank() {
			strongest[e.Subject] = e
		}
	}
	var emails []order.EmailView
	for _, row := range p.emails {
		e := order.EmailView{
			Generation: row.Generation, Superseded: row.Superseded, Suspended: row.Suspended, Class: row.Class, Attempts: row.Attempts,
			FirstAttemptAt: row.FirstAttemptAt, AcceptedAt: row.AcceptedAt, Address: row.Address,
		}
		e.State = generationState(row.AcceptedAt != nil, row.Stopped, row.Class)
		evidence := strongest[strconv.Itoa(row.Generation)]
		e.Delivery, e.Detail = evidence.Delivery, evidence.Detail
		emails = append(emails, e)
	}
	return emails
}

func generationState(accepted, stopped bool, class order.Class) order.EmailState {
	switch {
	case accepted:
		return order.EmailAccepted
	case !stopped:
		return order.EmailPending
	case class == order.ClassUnknown || class == order.ClassUncertain || class == order.ClassPastWindow:
		return order.EmailUncertain
	}
	return order.EmailAttention
}

func emailState(emails []order.EmailView) (order.EmailState, order.Delivery) {
	if len(emails) == 0 {
		return order.EmailPending, order.DeliveryNone
	}
	newest := emails[len(emails)-1]
	return newest.State, newest.Delivery
}

// accessState is what the buyer can open: what the grants say, once nothing is pending and nothing has stopped.
func (p orderParts) accessState() order.AccessState {
	if p.row.Payment == order.PaymentConfirmed && slices.ContainsFunc(p.attention, func(s order.Stopped) bool { return s.Step == order.StepAccess }) {
		return order.AccessAttention
	}
	obligations, states := 0, []order.AccessState{}
	for _, a := range p.access {
		if a.Kind != KindAccess {
			continue
		}
		obligations++
		switch {
		case a.Stopped:
			return order.AccessAttention
		case !a.Finished && a.Wanted == order.AccessGranted:
			return order.AccessPending
		case !a.Finished: // suspended
			states = append(states, a.Wanted)
		}
	}
	for _, g := range p.grants {
		states = append(states, g.State)
	}
	if obligations == 0 || len(states) == 0 {
		return order.AccessPending
	}
	return strongestAccess(states)
}

// strongestAccess is granted while anything can still be opened: a partial refund ends some grants and not the order.
func strongestAccess(states []order.AccessState) order.AccessState {
	switch {
	case slices.Contains(states, order.AccessGranted):
		return order.AccessGranted
	case slices.Contains(states, order.AccessHeld):
		return order.AccessHeld
	}
	return order.AccessRevoked
}
