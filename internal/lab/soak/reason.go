package soak

import (
	"slices"

	"handover/internal/order"
)

// checkReason finds orders that wait for a person without cause, and orders that should and do not.
func checkReason(f Facts, e expected, add adder) {
	if !f.Known {
		return
	}
	reason := f.View.Reason
	may, must := reasons(f, e)
	switch {
	case reason != "" && !slices.Contains(may, reason):
		add(FalseReason, "%s, and the sandbox knows of nothing like it (%s)", reason, moneyText(f))
	case reason == "" && must != "":
		add(FalseReason, "it needs a person (%s) and does not say so", must)
	}
}

// reasons lists what may be true of an order as the sandbox has it, and what must be said where nothing else
// is. An order shows one reason at a time.
func reasons(f Facts, e expected) (may []order.Reason, must order.Reason) {
	say := func(r order.Reason) { may, must = append(may, r), r }
	if f.Paid && f.ours() && !f.whole() && len(f.View.Emails) == 0 { // else a person has freed what is known
		say(order.ReasonItemsUnknown)
		return may, must
	}
	if e.unclear {
		say(order.ReasonRefundUnclear)
	}
	if len(f.View.Emails) == 0 {
		return may, must
	}
	newest := f.View.Emails[len(f.View.Emails)-1]
	accepted := newest.State == order.EmailAccepted
	generation := newest.Generation
	if f.Order.bounces() {
		may = append(may, order.ReasonEmailBounced)
	}
	switch {
	case newest.Delivery == order.DeliveryBounced:
		say(order.ReasonEmailBounced)
	case f.Order.Email == "" && generation == 1 && f.Keys[0].Calls == 0:
		say(order.ReasonNoAddress)
	case accepted || generation != 1: // what never ends is about the first email only
	case f.caught(refusesMessage) > 0:
		say(order.ReasonEmailRefused)
	case f.caught(failsForEver) >= mostAttempts && f.Keys[0].Accepted == 0, f.caught(dropsForEver) >= mostAttempts:
		may = append(may, order.ReasonEmailExhausted, order.ReasonEmailUncertain)
	}
	if len(e.open) == 0 && must != order.ReasonRefundUnclear {
		must = "" // what has ended needs no email
	}
	return may, must
}

// mostAttempts of the email's have to be calls that failed before its attempts count as spent. Some end without a call, as
// when the worker dies or the database is away.
const mostAttempts = emailAttempts * 2 / 3

func refusesMessage(f Fault) bool { return f.Status == refusedStatus }
func failsForEver(f Fault) bool {
	return f.Target == "resend.send" && f.Times == 0 && f.Mode == "refuse" && f.Status >= 500
}
func dropsForEver(f Fault) bool { return f.Target == "resend.send" && f.Times == 0 && f.Mode == "drop" }

// bounces says that the provider reports of the order's email that it came back.
func (o Order) bounces() bool {
	return slices.ContainsFunc(o.Steps, func(s Step) bool { return s.Do == DoEmailEvent && s.Kind == "email.bounced" })
}

// caught counts the requests that faults of a kind have caught.
func (f Facts) caught(of func(Fault) bool) (n int) {
	for i, fault := range f.Order.Faults {
		if of(fault) && i < len(f.Fired) {
			n += f.Fired[i]
		}
	}
	return n
}
