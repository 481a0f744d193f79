package soak

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"handover/internal/order"
)

// The kinds of violations, in the sequence of the report.
const (
	Lost           = "lost"
	DoubleGrant    = "double grant"
	DuplicateEmail = "duplicate message"
	MoneyDisagrees = "access disagrees with the money"
	AfterTheEnd    = "email after access had ended"
	FalseReason    = "attention with a false reason"
	Unsettled      = "not settled"
	NotPaid        = "given without payment"
)

// Kinds lists them.
var Kinds = []string{Lost, DoubleGrant, DuplicateEmail, MoneyDisagrees, AfterTheEnd, FalseReason, NotPaid, Unsettled}

// Violation is something that must not be.
type Violation struct {
	Kind  string `json:"kind"`
	Order string `json:"order"`
	What  string `json:"what"`
}

// inFlight is how long an email may still be accepted after access has ended: an attempt that began before.
const inFlight = 8 * time.Second

// Check holds the ledger against the sandbox's records.
func Check(all []Facts) (found []Violation) {
	owner := map[string]string{}
	for _, f := range all {
		if !f.Made {
			continue // nobody has bought it
		}
		add := func(kind, format string, arguments ...any) {
			found = append(found, Violation{kind, f.key(), fmt.Sprintf(format, arguments...)})
		}
		if len(f.Waiting) > 0 {
			add(Unsettled, "%s", strings.Join(f.Waiting, "; "))
		}
		e := expect(f)
		checkLoss(f, e, add)
		checkGrants(f, owner, add)
		checkEmails(f, add)
		checkMoney(f, e, add)
		checkReason(f, e, add)
	}
	return found
}

type adder = func(kind, format string, arguments ...any)

// checkLoss finds paid orders of which nothing came, and says nothing of those that ended or wait for a person.
func checkLoss(f Facts, e expected, add adder) {
	payment := f.View.Facts.Payment
	if !f.Paid {
		if payment == order.PaymentConfirmed || len(f.Messages)+len(f.View.Grants) > 0 {
			add(NotPaid, "payment is %s, with %d grants and %d messages", payment, len(f.View.Grants), len(f.Messages))
		}
		if f.Failed && payment != order.PaymentFailed {
			add(Lost, "the payment failed and the ledger says %s", payment)
		}
		return
	}
	switch {
	case !f.ours():
		if f.Known && payment != order.PaymentIgnored {
			add(Lost, "nothing in it is ours and the ledger says %s", payment)
		}
	case !f.Known:
		add(Lost, "paid, and the ledger has no such order")
	case f.View.Reason != "":
	case payment != order.PaymentConfirmed:
		add(Lost, "paid, and the ledger says %s", payment)
	case len(e.open) > 0 && f.View.Facts.Access != order.AccessGranted:
		add(Lost, "paid, and access is %s", f.View.Facts.Access)
	case len(e.open) > 0 && (f.View.Facts.Email != order.EmailAccepted || len(f.Messages) == 0):
		add(Lost, "paid, access granted, the email is %s and the provider accepted %d messages", f.View.Facts.Email, len(f.Messages))
	}
}

// checkGrants finds what was given twice. A licence key belongs to one unit of one order for ever.
func checkGrants(f Facts, owner map[string]string, add adder) {
	all := boughtUnits(f.Order.Lines)
	keys := map[string]bool{}
	seen := map[unit]bool{}
	for _, g := range f.View.Grants {
		u := unit{g.Product, string(g.Kind), g.File, g.Unit}
		if seen[u] || !slices.Contains(all, u) {
			add(DoubleGrant, "%s %s unit %d was given and was not bought, or given twice", g.Product, g.Kind, g.Unit)
		}
		seen[u] = true
		if g.Secret == "" {
			continue
		}
		keys[g.Secret] = true
		if other, taken := owner[g.Secret]; taken {
			add(DoubleGrant, "it has a licence key of %s", other)
		}
		owner[g.Secret] = f.key()
	}
	for _, m := range f.Messages {
		for _, key := range m.Licenses {
			if !keys[key] {
				add(DoubleGrant, "%s holds a licence key that the ledger does not have", m.Key)
			}
		}
	}
}

// checkEmails finds what was sent twice, or too late.
func checkEmails(f Facts, add adder) {
	for i, k := range f.Keys {
		if k.Accepted > 1 || k.Bodies > 1 {
			add(DuplicateEmail, "email %d: accepted %d times, with %d different bodies", i+1, k.Accepted, k.Bodies)
		}
	}
	if len(f.Messages) > 1+f.Asked {
		add(DuplicateEmail, "%d messages, and %d more than the first were asked for", len(f.Messages), f.Asked)
	}
	if f.Known && len(f.Messages) > len(f.View.Emails) {
		add(DuplicateEmail, "%d messages of %d generations", len(f.Messages), len(f.View.Emails))
	}
	for _, m := range f.Messages {
		if !f.EndedAt.IsZero() && m.At.After(f.EndedAt.Add(inFlight)) {
			add(AfterTheEnd, "%s was accepted %s after access had ended", m.Key, m.At.Sub(f.EndedAt).Round(time.Millisecond))
		}
	}
}

// checkMoney compares what can be opened with what the records say.
func checkMoney(f Facts, e expected, add adder) {
	var open []unit
	for _, g := range f.View.Grants {
		if g.State == order.AccessGranted {
			open = append(open, unit{g.Product, string(g.Kind), g.File, g.Unit})
		}
	}
	for _, u := range open {
		if !slices.Contains(e.open, u) {
			add(MoneyDisagrees, "%s %s unit %d is open; %s", u.Product, u.Kind, u.N, moneyText(f))
		}
	}
	for _, u := range e.open {
		if !slices.Contains(open, u) && f.View.Reason.Step() != "payment" && f.View.Reason.Step() != "access" {
			add(MoneyDisagrees, "%s %s unit %d is not open; %s", u.Product, u.Kind, u.N, moneyText(f))
		}
	}
	if e.held && f.View.Facts.Access != order.AccessHeld {
		add(MoneyDisagrees, "access is %s and has to be held; %s", f.View.Facts.Access, moneyText(f))
	}
	if want := door(f, e); f.Door != 0 && f.Door != want {
		add(MoneyDisagrees, "the newest link is answered %d, want %d; %s", f.Door, want, moneyText(f))
	}
	v := f.Override
	if v.What != order.OverrideNone && !slices.ContainsFunc(f.Money, func(m MoneyState) bool {
		return m.Refunded == v.Refunded && m.Dispute == v.Dispute && !m.At.After(v.At.Add(time.Second))
	}) {
		add(MoneyDisagrees, "the ledger noted with an override: refunded %d, dispute %q; it never was so before", v.Refunded, v.Dispute)
	}
}

// door is what the emailed link has to be answered with.
func door(f Facts, e expected) int {
	switch {
	case len(e.open) > 0 || f.View.Reason.Step() == "access":
		return http.StatusOK
	case e.held:
		return http.StatusForbidden
	}
	return http.StatusGone
}

func moneyText(f Facts) string {
	refunded, dispute := f.money()
	return fmt.Sprintf("paid %d, refunded %d, dispute %q, override %q", f.Captured, refunded, dispute, f.Override.What)
}
