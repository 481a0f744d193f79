package soak

import (
	"cmp"
	"time"
)

// money plans what happens to the money afterwards, or before the payment was reported.
func (d rng) money(o *Order, reported time.Duration) {
	at := reported + d.span(500*time.Millisecond, 7*time.Second)
	if o.Sale == SaleMoneyFirst {
		at = d.span(100*time.Millisecond, time.Second)
	}
	later := at + d.span(500*time.Millisecond, 4*time.Second)
	add := func(at time.Duration, do Action, kind string, amount int64) {
		o.Steps = append(o.Steps, Step{At: at, Do: do, Kind: kind, Amount: amount, Copies: pick(d, 1, 1, 2, 3)})
	}
	all := total(o.Lines)
	line := o.Lines[d.IntN(len(o.Lines))]
	one := products[line.Product].amount * int64(d.between(1, int(line.Quantity)))
	switch d.IntN(12) {
	case 0, 1:
		add(at, DoRefund, "succeeded", 0)
	case 2, 3:
		add(at, DoRefund, "succeeded", one)
	case 4: // it names nothing that was bought
		add(at, DoRefund, "succeeded", d.Int64N(all-1)+1)
	case 5:
		add(at, DoRefund, "pending", 0)
		add(later, DoRefundChange, "succeeded", 0)
	case 6:
		add(at, DoRefund, pick(d, "pending", "succeeded"), 0)
		add(later, DoRefundChange, "failed", 0)
	case 7: // in two parts
		if one < all {
			add(at, DoRefund, "succeeded", one)
			add(later, DoRefund, "succeeded", 0)
			break
		}
		add(at, DoRefund, "pending", 0)
	case 8:
		add(at, DoDispute, "needs_response", 0)
	case 9:
		add(at, DoDispute, pick(d, "needs_response", "warning_needs_response"), 0)
		add(later, DoDisputeChange, "won", 0)
	case 10:
		add(at, DoDispute, "needs_response", 0)
		add(later, DoDisputeChange, "lost", 0)
	case 11:
		add(at, DoDispute, "warning_needs_response", 0)
		add(later, DoDisputeChange, "warning_closed", 0)
	}
	// The reads of the money fail as well.
	if d.chance(35) {
		f := pick(d,
			Fault{Mode: "refuse", Status: 500, Times: 2}, Fault{Mode: "rate_limit", After: 1, Times: 1},
			Fault{Mode: "hang", Times: 1}, Fault{Mode: "drop", Times: 2})
		f.Target = "stripe.payment_intent"
		o.Faults = append(o.Faults, f)
	}
}

// malformed are payloads of signals that have to be refused, and seen.
var malformed = []string{
	`"just a text"`, `17`, `["reason"]`, `null`, `{}`, `{"reason":""}`, `{"reason":"ok","to":"somebody@else.test"}`,
	`{"reason":"send it to somebody@else.test"}`, `{"reason":"ok","extra":1}`, `{"reason":`,
}

// operate plans what operators do, each of them without knowing of the others, and some at the same moment.
func (d rng) operate(o *Order, reported time.Duration) {
	at, together := time.Duration(0), d.chance(35)
	for i := range d.between(1, 3) {
		if i == 0 || !together {
			at = reported + d.span(500*time.Millisecond, 7*time.Second)
		}
		switch kind := pick(d, "resend", "resend", "resend", "retry", "revoke", "restore", "relink"); {
		case d.chance(20):
			o.Steps = append(o.Steps, Step{At: at, Do: DoSignal, Kind: kind, Payload: pick(d, malformed...)})
		case d.chance(25):
			s := Step{At: at, Do: DoCommand, Kind: cmp.Or(pick(d, kind, kind, kind, "replay"), kind)}
			if kind == "resend" && s.Kind == kind && d.chance(40) {
				s.To = "other@soak.test"
			}
			o.Steps = append(o.Steps, s)
		case d.chance(25): // pressed twice, under one identity
			s := Step{At: at, Do: DoSignal, Kind: kind, Payload: `{"reason":"soak","request_id":"soak/` + d.id() + `"}`}
			o.Steps = append(o.Steps, s, s)
		default:
			o.Steps = append(o.Steps, Step{At: at, Do: DoSignal, Kind: kind, Payload: `{"reason":"soak"}`})
		}
		if kind := o.Steps[len(o.Steps)-1].Kind; kind == "revoke" && d.chance(60) {
			o.Steps = append(o.Steps, Step{At: at + d.span(500*time.Millisecond, 4*time.Second), Do: DoSignal, Kind: "restore", Payload: `{"reason":"a mistake"}`})
		}
	}
}

func (d rng) id() string {
	text := make([]byte, 8)
	for i := range text {
		text[i] = "0123456789abcdef"[d.IntN(16)]
	}
	return string(text)
}

// Target is a process that something is done to.
type Target string

// The processes of a run.
const (
	Starter      Target = "starter"
	OtherStarter Target = "other starter"
	Worker       Target = "worker"
	OtherWorker  Target = "other worker"
	Postgres     Target = "postgres"
	Temporal     Target = "temporal"
)

// How a process is hurt.
const (
	Kill   = "kill"   // with SIGKILL, and started again after a while
	Freeze = "freeze" // with SIGSTOP, and woken with SIGCONT
	Cut    = "cut"    // its connections to Temporal break
)

// Outage is one thing that is done to a process.
type Outage struct {
	At, For time.Duration
	Target  Target
	How     string
}

// outages hurts every process at least once, the ones that keep nothing more often.
func outages(span time.Duration, d rng) []Outage {
	var all []Outage
	for _, l := range []struct {
		target  Target
		every   time.Duration
		longest time.Duration // of being away
		frozen  time.Duration
	}{
		{Worker, 12 * time.Second, 2 * time.Second, 9 * time.Second},
		{OtherWorker, 19 * time.Second, 3 * time.Second, 9 * time.Second},
		{Starter, 13 * time.Second, 2 * time.Second, 5 * time.Second},
		{OtherStarter, 25 * time.Second, 2 * time.Second, 5 * time.Second},
		{Postgres, 44 * time.Second, 2 * time.Second, 3 * time.Second},
		{Temporal, 47 * time.Second, 2 * time.Second, 3 * time.Second},
	} {
		times := max(1, int(span/l.every))
		for i := range times {
			at := span * time.Duration(i) / time.Duration(times)
			o := Outage{At: at + d.span(span/time.Duration(4*times), span*3/time.Duration(4*times)), Target: l.target, How: Kill, For: d.span(0, l.longest)}
			switch n := d.IntN(10); {
			case i == 0: // every run kills each of them
			case n < 3:
				o.How, o.For = Freeze, d.span(time.Second, l.frozen)
			case n < 4 && l.target == Worker:
				o.How, o.For = Cut, 0
			}
			all = append(all, o)
		}
	}
	return all
}
