package soak

import (
	"time"

	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// Record is what the sandbox knows of one order, as it answered at the time, and what was asked for on it.
// Only the goroutine that plays the order writes it.
type Record struct {
	Order    Order
	BoughtAt time.Time
	Made     bool
	Paid     bool // the money came, or none was due
	Failed   bool
	Captured int64
	Refunds  []sandbox.Refund
	Disputes []sandbox.Dispute
	Money    []MoneyState // every state there was, oldest first
	FaultIDs []string     // of Order.Faults, in their sequence
	Asked    int          // new emails that were asked for, whether or not the request arrived
	Sent     int          // copies of webhooks that were sent, without their repetitions
	Distinct int          // events behind them
	Signals  int
	Refused  int // signals that Temporal did not take: there was no workflow, or no server
	Commands map[int]int
	Problems []string // what the soak itself could not do
}

// MoneyState is how the money stood from a moment on.
type MoneyState struct {
	At       time.Time
	Refunded int64
	Dispute  order.Dispute
}

// note writes down how the money stands now.
func (b *Record) note() {
	refunded, dispute := b.money()
	b.Money = append(b.Money, MoneyState{time.Now(), refunded, dispute})
}

// money adds up the refunds that have succeeded, and finds the gravest dispute.
func (b *Record) money() (refunded int64, dispute order.Dispute) {
	for _, r := range b.Refunds {
		if r.Status == "succeeded" {
			refunded += r.Amount
		}
	}
	grave := []order.Dispute{order.DisputeNone, order.DisputeInquiry, order.DisputeWon, order.DisputeOpen, order.DisputeLost}
	worst := 0
	for _, d := range b.Disputes {
		at := 0
		switch d.Status {
		case "warning_needs_response", "warning_under_review":
			at = 1
		case "won":
			at = 2
		case "needs_response", "under_review":
			at = 3
		case "lost":
			at = 4
		}
		worst = max(worst, at)
	}
	return refunded, grave[worst]
}

// ours says that something in it is sold by us, and whole that everything is.
func (b *Record) ours() bool  { return strangers(b.Order.Lines) < len(b.Order.Lines) }
func (b *Record) whole() bool { return strangers(b.Order.Lines) == 0 }
