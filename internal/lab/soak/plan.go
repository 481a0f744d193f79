// Package soak runs a shop for minutes under everything at once: hundreds of orders on the real processes, while these
// and their servers are killed and frozen, the providers fail, webhooks come twice and in the wrong order, money goes
// back and operators press buttons. In the end it holds the ledger against the sandbox's records.
//
// A seed gives a plan: the same orders, faults and times again. How they meet is the machine's affair and differs from
// run to run.
package soak

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Plan is everything that a run does, with its times.
type Plan struct {
	Seed    uint64
	Orders  []Order
	Outages []Outage
	Span    time.Duration // in which the orders come; their steps go on a little longer
}

// Sale is how an order is paid.
type Sale string

// The ways of paying, and of no webhook that reports it.
const (
	SalePaid       Sale = "paid"
	SaleFree       Sale = "free"
	SaleLate       Sale = "paid_late"   // a bank debit whose money comes
	SaleFailed     Sale = "failed"      // a bank debit whose money does not
	SaleMissed     Sale = "untold"      // paid, and no webhook ever comes
	SaleStrange    Sale = "not_ours"    // nothing in it is sold by us
	SaleMixed      Sale = "partly_ours" // a person has to decide
	SaleNoAddress  Sale = "no_address"
	SaleMoneyFirst Sale = "money_first" // its refund or dispute is reported before its completion
)

// Order is one checkout session with all that will happen to it.
type Order struct {
	Session string
	At      time.Duration
	Sale    Sale
	Lines   []Line
	Email   string // empty for none
	Faults  []Fault
	Steps   []Step
}

// Fault is a misbehaviour of a provider towards one order.
type Fault struct {
	Target string // as the sandbox names it
	Mode   string
	Status int
	Name   string
	After  int // Retry-After in seconds, of a rate limit
	Delay  time.Duration
	Times  int // 0 for ever
}

// Action is what a step does.
type Action string

// The actions of buyers, providers and operators.
const (
	DoReport        Action = "report"         // an event of the session, Kind
	DoPay           Action = "pay"            // the late money comes, and the event says so
	DoFail          Action = "fail"           // it does not
	DoRefund        Action = "refund"         // of Amount, in the state Kind
	DoRefundChange  Action = "refund_change"  // the newest refund becomes Kind
	DoDispute       Action = "dispute"        // in the state Kind
	DoDisputeChange Action = "dispute_change" // the newest dispute becomes Kind
	DoSignal        Action = "signal"         // Kind, with Payload
	DoCommand       Action = "command"        // starter Kind ORDER
	DoEmailEvent    Action = "email_event"    // Kind, of the newest message
)

// Step is one thing that happens to an order.
type Step struct {
	At      time.Duration // after the order's own time
	Do      Action
	Kind    string
	Amount  int64
	Copies  int
	Aside   bool   // to the other starter, which nobody repeats it to
	Payload string // of a signal, as it goes out
	To      string // an address, for a command
}

// perOrder is how long an order has the run for itself: 500 of them take three and a half minutes.
const perOrder = 420 * time.Millisecond

// So many orders may come faster: shortest is the least time in which any number of them comes.
const (
	fewOrders = 10
	shortest  = 7 * time.Second
)

// allAttempts is how long an email may fail until its attempts are spent.
const allAttempts = 100 * time.Second

// Make plans a run of n orders.
func Make(n int, seed uint64) Plan {
	p := Plan{Seed: seed, Span: max(shortest, time.Duration(n-fewOrders)*perOrder)}
	sales := salesOf(n, rand.New(rand.NewPCG(seed, 0)))
	for i := range n {
		// Each order has rng of its own, so that its plan does not hang on those of the others.
		d := rng{rand.New(rand.NewPCG(seed, uint64(i)+1))}
		at := p.Span * time.Duration(i) / time.Duration(n)
		o := d.order(fmt.Sprintf("cs_test_soak%016xn%05d", seed, i), at, sales[i], at+allAttempts < p.Span)
		if o.Email != "" {
			o.Email = fmt.Sprintf("buyer%d@soak.test", i)
		}
		p.Orders = append(p.Orders, o)
	}
	p.Outages = outages(p.Span, rng{rand.New(rand.NewPCG(seed, 1<<40))})
	return p
}

// salesOf deals out the ways of paying: even a short run has one of each, and all are in a random sequence.
func salesOf(n int, r *rand.Rand) []Sale {
	shares := []struct {
		sale    Sale
		percent int
	}{
		{SaleLate, 8}, {SaleMoneyFirst, 5}, {SaleFailed, 4}, {SaleFree, 3}, {SaleNoAddress, 3}, {SaleStrange, 3}, {SaleMixed, 3}, {SaleMissed, 3},
	}
	var sales []Sale
	for _, s := range shares {
		for range max(1, n*s.percent/100) {
			sales = append(sales, s.sale)
		}
	}
	for len(sales) < n {
		sales = append(sales, SalePaid)
	}
	sales = sales[:n]
	r.Shuffle(n, func(i, j int) { sales[i], sales[j] = sales[j], sales[i] })
	return sales
}

// rng decide.
type rng struct{ *rand.Rand }

// chance is true in so many of a hundred cases.
func (d rng) chance(percent int) bool { return d.IntN(100) < percent }

// between is from a to b, both included.
func (d rng) between(a, b int) int { return a + d.IntN(b-a+1) }

// span is a time between a and b.
func (d rng) span(a, b time.Duration) time.Duration {
	return a + time.Duration(d.Int64N(int64(b-a)+1))
}

func pick[T any](d rng, of ...T) T { return of[d.IntN(len(of))] }
