package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"handover/internal/ledger"
	"handover/internal/order"
)

// since is when an order's present wait began.
func since(v order.View) time.Time {
	if v.AttentionAt != nil {
		return *v.AttentionAt
	}
	return v.CreatedAt
}

func next(v order.View) string {
	return strings.ReplaceAll(v.Reason.Remedy("ORDER"), "ORDER", v.Key.String())
}

// printAttention says what is the matter, since when, and what to do.
func printAttention(w io.Writer, v order.View, now time.Time) {
	fmt.Fprintf(w, "  NEEDS ATTENTION for %s: %s\n  %s\n", Age(now.Sub(since(v))), v.Reason.Title(), next(v))
}

// PrintStatus writes everything known of one order, what a person has to do first. The address is masked: a terminal is
// scrolled back and shared.
func PrintStatus(w io.Writer, v order.View, audit []ledger.AuditEntry, now time.Time) {
	fmt.Fprintf(w, "Order %s\n\n", v.Key)
	if v.Reason != "" {
		printAttention(w, v, now)
		fmt.Fprintln(w)
	}
	printFacts(w, v, now)
	fmt.Fprintf(w, "\n  The buyer sees: %s\n", pageSays(v))
	printItems(w, v)
	if len(v.Emails) > 1 {
		fmt.Fprintln(w, "\nEmails")
		for _, line := range Emails(v, now) {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
	if len(audit) > 0 {
		fmt.Fprintln(w, "\nWhat was decided")
		for _, a := range audit {
			fmt.Fprintf(w, "  %s  %s: %s. Why: %s\n", a.At.UTC().Format("2006-01-02 15:04:05Z"), plain(a.Who), plain(a.What), cmp.Or(plain(a.Why), "not said"))
		}
	}
}

// PrintWaiting writes what people have asked for and nobody has decided yet.
func PrintWaiting(w io.Writer, waiting []order.Request) {
	if len(waiting) > 0 {
		fmt.Fprintln(w, "\nWaiting for a worker")
	}
	for _, r := range waiting {
		fmt.Fprintf(w, "  %s by %s. Why: %s\n", plain(r.Kind), plain(r.Who), cmp.Or(plain(r.Why), "not said"))
	}
}

// plain makes text that somebody else wrote fit for a terminal: one line, no escapes, nothing that turns the direction of
// writing.
func plain(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.Is(unicode.Bidi_Control, c):
			return -1
		case unicode.IsControl(c), c == '\u2028', c == '\u2029':
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// printFacts writes the three facts below each other, each with what is known of it.
func printFacts(w io.Writer, v order.View, now time.Time) {
	facts := [][3]string{
		{"payment", string(v.Facts.Payment), paymentLine(v, now)},
		{"access", string(v.Facts.Access), accessLine(v)},
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
		fmt.Fprintf(w, "\n  Nothing of it is in the catalogue. If it should be: add its price to sold_as, restart the worker, then: starter replay %s\n", v.Key)
	}
}

func itemName(i order.Item) string {
	name := plain(i.Name)
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
		parts = append(parts, "confirmed "+Age(now.Sub(*v.ConfirmedAt))+" ago")
	} else {
		parts = append(parts, "first heard of "+Age(now.Sub(v.CreatedAt))+" ago")
	}
	if v.Facts.Processing && v.Facts.Payment == order.PaymentPending {
		parts = append(parts, "on its way (bank debits take days)")
	}
	parts = append(parts, reversed(v)...)
	if v.PaymentRef != "" {
		parts = append(parts, "at the provider "+v.PaymentRef)
	}
	return strings.Join(parts, ", ")
}

// reversed is what became of the money afterwards.
func reversed(v order.View) (parts []string) {
	money := func(minor int64) string { return order.Money{Minor: minor, Currency: v.Total.Currency}.String() }
	if v.Refunded > 0 {
		parts = append(parts, "refunded "+money(v.Refunded))
	}
	if v.RefundPending > 0 {
		parts = append(parts, "a refund of "+money(v.RefundPending)+" is on its way")
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

func accessLine(v order.View) string {
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
		parts = append(parts, count(files, "download"))
	}
	if keys > 0 {
		parts = append(parts, count(keys, "licence key"))
	}
	if ended > 0 && v.Facts.Access == order.AccessGranted {
		parts = append(parts, fmt.Sprintf("of these %d ended", ended))
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
		parts = append(parts, "accepted by the provider "+Age(now.Sub(*e.AcceptedAt))+" ago")
	case e.Superseded:
		parts = append(parts, "superseded by one to another address")
	case e.Attempts > 0:
		parts = append(parts, count(e.Attempts, "attempt"))
	default:
		parts = append(parts, "not attempted yet")
	}
	if e.AcceptedAt == nil && (e.Attempts > 0 || !e.Class.Final()) && e.Class != "" {
		parts = append(parts, failure(e.Class))
	}
	if e.Delivery != "" {
		told := "reported since: " + string(e.Delivery)
		if e.Detail != "" {
			told += " (" + plain(e.Detail) + ")"
		}
		parts = append(parts, told)
	}
	return strings.Join(parts, ", ")
}

func emailWord(f order.Facts) string {
	if f.Delivery != "" {
		return string(f.Email) + ", " + string(f.Delivery)
	}
	return string(f.Email)
}

// Age writes a duration as a person would say it.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func words(s string) string { return strings.ReplaceAll(s, "_", " ") }

// Emails writes one line for each generation of the access email.
func Emails(v order.View, now time.Time) []string {
	lines := make([]string, len(v.Emails))
	for i, e := range v.Emails {
		lines[i] = generationLine(e, now)
	}
	return lines
}

// Generation is the state of one generation of the access email.
func Generation(v order.View, generation int) order.EmailState {
	for _, e := range v.Emails {
		if e.Generation == generation {
			return e.State
		}
	}
	return order.EmailPending
}
