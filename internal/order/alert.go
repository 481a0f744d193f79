package order

import "time"

// MostReferences bounds how many orders an alert names.
const MostReferences = 10

// Alert is what the owner is notified of: a reason, and the orders that need a person for it. It names no session and no
// buyer.
type Alert struct {
	Reason     Reason
	Orders     int         // 0 where the reason is about no single order
	References []Reference // of those that have waited longest
	Since      time.Time   // when the first of them stopped; zero where the reason is about no single order
}
