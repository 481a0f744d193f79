package notify

import (
	"context"
	"fmt"
	"strings"
	"time"

	"handover/internal/order"
	"handover/internal/text"
)

// Waiting is one order of a reminder.
type Waiting struct {
	Reference order.Reference
	Reason    order.Reason
	Since     time.Time // when it began to need a person
}

// Remind lists in one message the orders that have needed a person longest, and says how many there are.
func (n *Notifier) Remind(ctx context.Context, longest []Waiting, total int, now time.Time) error {
	what := order.Alert{Reason: order.ReasonStillWaiting, Orders: total}
	subject := fmt.Sprintf("%d orders still need you", total)
	if total == 1 {
		subject = "An order still needs you"
	}
	var body strings.Builder
	fmt.Fprintf(&body, "%s\n", subject)
	for _, w := range longest {
		if len(what.References) < order.MostReferences {
			what.References = append(what.References, w.Reference)
		}
		if what.Since.IsZero() || w.Since.Before(what.Since) {
			what.Since = w.Since
		}
		fmt.Fprintf(&body, "\n%s\n%s, for %s\n%s\n", w.Reference, w.Reason.Title(), text.Age(now.Sub(w.Since)), w.Reason.Remedy(string(w.Reference)))
	}
	if more := total - len(longest); more > 0 {
		fmt.Fprintf(&body, "\nAnd %d more.\n", more)
	}
	fmt.Fprintf(&body, "\n%s\n", everything)
	return n.send(ctx, alert(what, what.Reason.Remedy("ORDER"), subject, now), subject, body.String())
}
