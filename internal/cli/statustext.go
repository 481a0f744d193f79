package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/text"
)

// since is when an order began to wait.
func since(v order.View) time.Time {
	if v.AttentionAt != nil {
		return *v.AttentionAt
	}
	return v.CreatedAt
}

// printAttention writes what happened, since when, and the remedy.
func printAttention(w io.Writer, v order.View, now time.Time) {
	fmt.Fprintf(w, "  NEEDS ATTENTION for %s: %s\n  %s\n", text.Age(now.Sub(since(v))), v.Reason.Title(), v.Reason.Remedy(v.Key.String()))
}

// printStatus writes everything known of one order, the remedy first. The address is masked, because a terminal is
// scrolled back and shared.
func printStatus(w io.Writer, v order.View, audit []ledger.AuditEntry, now time.Time) {
	fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("Order %s  %s", v.Key, v.Reference), " ")+"\n")
	if v.Reason != "" {
		printAttention(w, v, now)
		fmt.Fprintln(w)
	}
	printFacts(w, v, now)
	fmt.Fprintf(w, "\n  The buyer sees: %s\n", pageSays(v))
	printItems(w, v)
	if len(v.Emails) > 1 {
		fmt.Fprintln(w, "\nEmails")
		for _, e := range v.Emails {
			fmt.Fprintf(w, "  %s\n", generationLine(e, now))
		}
	}
	if len(audit) > 0 {
		fmt.Fprintln(w, "\nDecisions")
		for _, a := range audit {
			fmt.Fprintf(w, "  %s  %s: %s. Why: %s\n", a.At.UTC().Format("2006-01-02 15:04:05Z"), text.Line(a.Who), text.Line(a.What), cmp.Or(text.Line(a.Why), "not given"))
		}
	}
}

// printUndecided writes the requests that no worker has decided yet.
func printUndecided(w io.Writer, waiting []order.Request) {
	if len(waiting) > 0 {
		fmt.Fprintln(w, "\nWaiting for a worker")
	}
	for _, r := range waiting {
		fmt.Fprintf(w, "  %s by %s. Why: %s\n", text.Line(r.Kind), text.Line(r.Who), cmp.Or(text.Line(r.Why), "not given"))
	}
}

// printFacts writes the three facts below each other, each with what is known of it.
func printFacts(w io.Writer, v order.View, now time.Time) {
	facts := [][3]string{
		{"payment", string(v.Facts.Payment), paymentLine(v, now)},
		{"access", string(v.Facts.Access), accessLine(v, now)},
		{"email", string(v.Facts.Email), emailLine(v, now)},
	}
	width := 0
	for _, f := range facts {
		width = max(width, len(f[1]))
	}
	for _, f := range facts {
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-7s  %-*s  %s", f[0], width, f[1], f[2]), " "))
	}
}

func printItems(w io.Writer, v order.View) {
	if len(v.Items) > 0 {
		fmt.Fprintln(w, "\nBought")
	}
	for _, i := range v.Items {
		fmt.Fprintf(w, "  %d × %s\n", i.Quantity, itemName(i))
	}
	if v.Facts.Payment == order.PaymentIgnored {
		fmt.Fprintf(w, textIgnored, v.Key)
	}
}

func itemName(i order.Item) string {
	name := text.Line(i.Name)
	if name == "" {
		name = strings.Join(i.Refs, ", ")
	}
	if i.Product == "" {
		return name + "  (not in the catalogue)"
	}
	return name + "  (" + i.Product + ")"
}

func paymentLine(v order.View, now time.Time) string {
	var parts []string
	if v.Total.Currency != "" {
		parts = append(parts, v.Total.String())
	}
	if v.ConfirmedAt != nil {
		parts = append(parts, "confirmed "+text.Age(now.Sub(*v.ConfirmedAt))+" ago")
	} else {
		parts = append(parts, "first seen "+text.Age(now.Sub(v.CreatedAt))+" ago")
	}
	if v.Facts.Processing && v.Facts.Payment == order.PaymentPending {
		if v.Facts.ToPay {
			parts = append(parts, "the buyer has still to pay a voucher or a transfer")
		} else {
			parts = append(parts, "in progress (bank debits take days)")
		}
	}
	parts = append(parts, reversed(v)...)
	if v.PaymentRef != "" {
		parts = append(parts, "at the provider "+v.PaymentRef)
	}
	return strings.Join(parts, ", ")
}

// reversed lists refunds and disputes.
func reversed(v order.View) (parts []string) {
	money := func(minor int64) string { return order.Money{Minor: minor, Currency: v.Total.Currency}.String() }
	if v.Refunded > 0 {
		parts = append(parts, "refunded "+money(v.Refunded))
	}
	if v.RefundPending > 0 {
		parts = append(parts, "a refund of "+money(v.RefundPending)+" is pending")
	}
	switch v.Dispute {
	case order.DisputeNone:
	case order.DisputeInquiry:
		parts = append(parts, "the buyer's bank has asked about it (no money has moved)")
	default:
		parts = append(parts, "dispute "+string(v.Dispute))
	}
	return parts
}

func accessLine(v order.View, now time.Time) string {
	var files, keys, ended int
	for _, g := range v.Grants {
		if g.State == order.AccessRevoked {
			ended++
		}
		if g.Secret != "" {
			keys++
		} else {
			files++
		}
	}
	var parts []string
	if files > 0 {
		parts = append(parts, text.Count(files, "download"))
	}
	if keys > 0 {
		parts = append(parts, text.Count(keys, "licence key"))
	}
	if ended > 0 && v.Facts.Access == order.AccessGranted {
		parts = append(parts, fmt.Sprintf("of these %d ended", ended))
	}
	if v.OpenedAt != nil {
		parts = append(parts, "link opened "+text.Age(now.Sub(*v.OpenedAt))+" ago")
	}
	if v.DownloadedAt != nil {
		parts = append(parts, "downloaded "+text.Age(now.Sub(*v.DownloadedAt))+" ago")
	}
	return strings.Join(parts, ", ")
}

func emailLine(v order.View, now time.Time) string {
	if len(v.Emails) == 0 {
		return ""
	}
	return generationLine(v.Emails[len(v.Emails)-1], now)
}

func generationLine(e order.EmailView, now time.Time) string {
	parts := []string{fmt.Sprintf("generation %d", e.Generation)}
	if e.Address != "" {
		parts = append(parts, "to "+order.MaskAddress(e.Address))
	}
	switch {
	case e.AcceptedAt != nil:
		parts = append(parts, "accepted by the provider "+text.Age(now.Sub(*e.AcceptedAt))+" ago")
	case e.Superseded:
		parts = append(parts, "superseded by one to another address")
	case e.Attempts > 0:
		parts = append(parts, text.Count(e.Attempts, "attempt"))
	default:
		parts = append(parts, "not attempted yet")
	}
	if e.AcceptedAt == nil && (e.Attempts > 0 || !e.Class.Final()) && e.Class != "" {
		parts = append(parts, failures[e.Class])
	}
	if e.Delivery != "" {
		reported := "reported since: " + string(e.Delivery)
		if e.Detail != "" {
			reported += " (" + text.Line(e.Detail) + ")"
		}
		parts = append(parts, reported)
	}
	return strings.Join(parts, ", ")
}

func emailWord(f order.Facts) string {
	if f.Delivery != "" {
		return string(f.Email) + ", " + string(f.Delivery)
	}
	return string(f.Email)
}
