package notify

import (
	"context"
	"fmt"
	"strings"
	"time"

	"handover/internal/order"
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
	return Waiting{Order: key.String(), Reason: reason, Next: next(reason, key), AgeSeconds: int64(now.Sub(since).Seconds())}
}

// Remind tells the owner of everything that still waits, in one message: the orders that have waited longest, and how
// many there are.
func (t *Notifier) Remind(ctx context.Context, longest []Waiting, total int, now time.Time) error {
	a := Alert{Reason: order.ReasonStillWaiting, Next: order.ReasonStillWaiting.Remedy("ORDER"), At: now.UTC(), Waiting: total, Orders: longest}
	subject := fmt.Sprintf("%d orders still need you", total)
	if total == 1 {
		subject = "An order still needs you"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n", subject)
	for _, w := range longest {
		fmt.Fprintf(&text, "\n%s\n%s, %s\n%s\n", w.Order, words(w.Reason), age(w.AgeSeconds), w.Next)
	}
	if more := total - len(longest); more > 0 {
		fmt.Fprintf(&text, "\nAnd %d more.\n", more)
	}
	fmt.Fprintf(&text, "\n%s\n", everything)
	return t.tell(ctx, a, subject, text.String())
}

// age is said in the unit in which a person would look at a calendar.
func age(seconds int64) string {
	if hours := seconds / 3600; hours < 48 {
		return fmt.Sprintf("for %d h", hours)
	}
	return fmt.Sprintf("for %d days", seconds/86400)
}
