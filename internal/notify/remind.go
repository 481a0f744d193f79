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
	Order      string       `json:"order"`
	Reason     order.Reason `json:"reason"`
	Next       string       `json:"next"`
	AgeSeconds int64        `json:"age_seconds"` // how long it has needed a person
}

// NewWaiting describes an order that has needed a person since then.
func NewWaiting(key order.Key, reason order.Reason, since, now time.Time) Waiting {
	return Waiting{Order: key.String(), Reason: reason, Next: reason.Remedy(key.String()), AgeSeconds: int64(now.Sub(since).Seconds())}
}

// Remind lists in one message the orders that have needed a person longest, and says how many there are.
func (n *Notifier) Remind(ctx context.Context, longest []Waiting, total int, now time.Time) error {
	a := Alert{Reason: order.ReasonStillWaiting, Next: order.ReasonStillWaiting.Remedy("ORDER"), At: now.UTC(), Waiting: total, Orders: longest}
	subject := fmt.Sprintf("%d orders still need you", total)
	if total == 1 {
		subject = "An order still needs you"
	}
	var body strings.Builder
	fmt.Fprintf(&body, "%s\n", subject)
	for _, w := range longest {
		fmt.Fprintf(&body, "\n%s\n%s, for %s\n%s\n", w.Order, w.Reason.Title(), text.Age(time.Duration(w.AgeSeconds)*time.Second), w.Next)
	}
	if more := total - len(longest); more > 0 {
		fmt.Fprintf(&body, "\nAnd %d more.\n", more)
	}
	fmt.Fprintf(&body, "\n%s\n", everything)
	return n.send(ctx, a, subject, body.String())
}
