package soak

import (
	"slices"
	"time"
)

const (
	completed     = "checkout.session.completed"
	lateSucceeded = "checkout.session.async_payment_succeeded"
	lateFailed    = "checkout.session.async_payment_failed"
)

// order plans one order. One that is bought early enough may use up its attempts before the run ends.
func (d rng) order(session string, at time.Duration, sale Sale, early bool) Order {
	o := Order{Session: session, At: at, Sale: sale, Lines: d.lines(sale), Email: "planned"}
	if sale == SaleNoAddress {
		o.Email = ""
	}
	reported := d.report(&o)
	o.Faults = append(d.paymentFaults(), d.emailFaults(early && sale == SalePaid)...)
	if sale == SaleMoneyFirst || sale == SalePaid && d.chance(30) {
		d.money(&o, reported)
	}
	if sale != SaleMissed && d.chance(28) {
		d.operate(&o, reported)
	}
	if o.Email != "" && d.chance(20) {
		kind := pick(d, "email.delivered", "email.delivered", "email.bounced", "email.complained", "email.delivery_delayed")
		o.Steps = append(o.Steps, Step{At: reported + d.span(2*time.Second, 8*time.Second), Do: DoEmailEvent, Kind: kind, Copies: d.between(1, 3)})
	}
	d.repair(&o)
	slices.SortStableFunc(o.Steps, func(a, b Step) int { return int(a.At - b.At) })
	return o
}

func (d rng) lines(sale Sale) []Line {
	if sale == SaleStrange {
		return []Line{{"stranger", 1}}
	}
	ours := []string{"guide", "birds", "set", "gift"}
	d.Shuffle(len(ours), func(i, j int) { ours[i], ours[j] = ours[j], ours[i] })
	var lines []Line
	for _, name := range ours[:pick(d, 1, 1, 1, 2, 2, 3)] {
		lines = append(lines, Line{name, int64(pick(d, 1, 1, 1, 2, 3))})
	}
	if sale == SaleMixed {
		lines = append(lines, Line{"stranger", 1})
	}
	return lines
}

// report plans the events of the payment, some of them twice, under two ids, at the other starter or in the wrong order. It
// returns when the payment is reported.
func (d rng) report(o *Order) time.Duration {
	at := time.Duration(0)
	if o.Sale == SaleMoneyFirst {
		at = d.span(2*time.Second, 5*time.Second)
	}
	if o.Sale == SaleMissed {
		return at
	}
	add := func(at time.Duration, kind string) {
		o.Steps = append(o.Steps, Step{At: at, Do: DoReport, Kind: kind, Copies: pick(d, 1, 1, 1, 2, 5)})
		if d.chance(20) {
			o.Steps = append(o.Steps, Step{At: at + d.span(0, 4*time.Second), Do: DoReport, Kind: kind, Copies: 1})
		}
		if d.chance(15) {
			o.Steps = append(o.Steps, Step{At: at + d.span(0, 2*time.Second), Do: DoReport, Kind: kind, Copies: d.between(1, 3), Aside: true})
		}
	}
	switch o.Sale {
	case SaleLate:
		paid := d.span(time.Second, 6*time.Second)
		o.Steps = append(o.Steps, Step{At: paid, Do: DoPay})
		add(paid, lateSucceeded)
		if d.chance(30) {
			add(paid+d.span(time.Second, 3*time.Second), completed) // it comes last
		} else {
			add(0, completed)
		}
		return paid
	case SaleFailed:
		failed := d.span(time.Second, 6*time.Second)
		o.Steps = append(o.Steps, Step{At: failed, Do: DoFail})
		add(0, completed)
		add(failed, lateFailed)
		return failed
	}
	add(at, completed)
	return at
}

// paymentFaults are what the payment provider does to the reads of one order.
func (d rng) paymentFaults() []Fault {
	if !d.chance(30) {
		return nil
	}
	session := func(f Fault) []Fault { f.Target = "stripe.session"; return []Fault{f} }
	switch d.IntN(8) {
	case 0, 1:
		return session(Fault{Mode: "refuse", Status: pick(d, 500, 502, 503), Times: d.between(1, 3)})
	case 2:
		return session(Fault{Mode: "rate_limit", After: d.between(1, 2), Times: d.between(1, 2)})
	case 3:
		return session(Fault{Mode: "hang", Times: d.between(1, 2)})
	case 4, 5:
		return session(Fault{Mode: "drop", Times: d.between(1, 3)})
	case 6:
		return session(Fault{Mode: "late", Delay: 2500 * time.Millisecond, Times: 1})
	}
	return session(Fault{Mode: "refuse", Status: 401, Times: 1})
}

// The faults that decide what becomes of an order.
const (
	refusedStatus = 422 // the message, for good
	keyStatus     = 401 // our key, until it is right again
)

// emailFaults are what the email provider does to the messages of one order.
func (d rng) emailFaults(endless bool) []Fault {
	send := func(f Fault) []Fault { f.Target = "resend.send"; return []Fault{f} }
	switch n := d.IntN(100); {
	case n < 38:
		return nil
	case n < 50:
		return send(Fault{Mode: "refuse", Status: pick(d, 500, 502, 503), Times: d.between(1, 3)})
	case n < 60:
		return send(Fault{Mode: "rate_limit", After: d.between(1, 2), Times: d.between(1, 2)})
	case n < 68:
		return send(Fault{Mode: "hang", Times: d.between(1, 2)})
	case n < 80:
		return send(Fault{Mode: "drop", Times: d.between(1, 3)})
	case n < 85:
		return send(Fault{Mode: "late", Delay: 2500 * time.Millisecond, Times: d.between(1, 2)})
	case n < 89:
		return send(Fault{Mode: "slow", Delay: time.Second, Times: 1})
	case n < 93:
		return send(Fault{Mode: "refuse", Status: refusedStatus, Name: "validation_error"})
	case n < 97:
		return send(Fault{Mode: "refuse", Status: keyStatus, Name: "missing_api_key", Times: 1})
	case n < 98 && endless:
		return send(Fault{Mode: "refuse", Status: 500}) // until the attempts are spent
	case n < 99 && endless:
		return send(Fault{Mode: "drop"}) // accepted, and never an answer
	}
	return nil
}

// repair plans what a careful operator does about a refused message or a missing address, for half of the orders.
func (d rng) repair(o *Order) {
	refused := slices.ContainsFunc(o.Faults, func(f Fault) bool { return f.Status == refusedStatus })
	if (refused || o.Sale == SaleNoAddress) && d.chance(50) {
		o.Steps = append(o.Steps, Step{At: d.span(6*time.Second, 10*time.Second), Do: DoCommand, Kind: "resend", To: "right@soak.test"})
	}
}
