package cli

import (
	"fmt"
	"io"
	"time"

	"handover/internal/flow"
	"handover/internal/ledger"
	"handover/internal/order"
)

type resendCommand struct {
	Order     string `arg:"" optional:"" help:"ENVIRONMENT/SESSION, or the reference."`
	Unreached bool   `help:"All paid orders of which nothing shows that the buyer has it."`
	many
	Reason string  `help:"Why. It is kept in the order's audit." placeholder:"TEXT"`
	To     *string `help:"Send to this address from now on; - reads it from standard input." placeholder:"ADDRESS"`
	JSON   bool    `help:"Print JSON."`
}

func (r *resendCommand) Run(c *console) error {
	if (r.Order == "") != r.Unreached {
		return fmt.Errorf("%w: name one ORDER, or --unreached for all of which nothing shows that the buyer has it", errUsage)
	}
	if r.Unreached {
		return r.all(c)
	}
	if _, err := r.filter(nil); err != nil {
		return err
	}
	one := sendCommand{Order: r.Order, Reason: r.why(r.Reason, ""), To: r.To, JSON: r.JSON}
	return one.run(c, flow.KindResend, r.DryRun)
}

// all sends to every buyer who was not reached. It does not wait for the provider: the sender's rate may take hours.
func (r *resendCommand) all(c *console) error {
	filter, err := r.filter(&ledger.Filter{Unreached: true})
	if err != nil {
		return err
	}
	if r.To != nil {
		return fmt.Errorf("%w: --to goes with one ORDER", errUsage)
	}
	request, err := c.newRequest(flow.KindResend, r.why(r.Reason, "the buyer was not reached"))
	if err != nil {
		return err
	}
	return c.connect(func(cn *connection) error {
		views, err := cn.selectOrders("", filter)
		if err != nil {
			return err
		}
		r.none(c, r.JSON, views, "Every buyer was reached, as far as is known.")
		answers, err := r.each(cn, views, func(v order.View) (answer, error) {
			a, err := cn.ask(request, v.Key)
			a.Email = order.EmailPending
			return a, err
		})
		if err != nil {
			return err
		}
		return c.report(r.JSON, answers, answers...)
	})
}

// sendCommand is a resend of one order, or one with a new link.
type sendCommand struct {
	Order  string  `arg:"" help:"ENVIRONMENT/SESSION, or the reference."`
	Reason string  `required:"" help:"Why. It is kept in the order's audit." placeholder:"TEXT"`
	To     *string `help:"Send to this address from now on; - reads it from standard input." placeholder:"ADDRESS"`
	JSON   bool    `help:"Print JSON."`
}

func (r *sendCommand) run(c *console, kind string, dry bool) error {
	request, err := r.request(c, kind)
	if err != nil {
		return err
	}
	return r.carryOut(c, request, dry)
}

func (r *sendCommand) carryOut(c *console, request order.Request, dry bool) error {
	return c.withOrder(r.Order, func(cn *connection, v order.View) error {
		if !r.JSON {
			printKnown(c.Out, v, c.now())
		}
		a := answer{Order: v.Key.String(), Outcome: outcomeDryRun}
		if !dry {
			var err error
			if a, err = r.send(cn, v, request); err != nil {
				return err
			}
		}
		return c.report(r.JSON, a, a)
	})
}

func (r *sendCommand) request(c *console, kind string) (order.Request, error) {
	request, err := c.newRequest(kind, r.Reason)
	if err != nil || r.To == nil {
		return request, err
	}
	to, err := c.address("--to", *r.To)
	if err != nil {
		return request, err
	}
	address, ok := order.CleanAddress(to)
	if !ok {
		return request, fmt.Errorf("%w: --to takes one email address, like alex@example.com", errUsage)
	}
	request.Address = address
	return request, nil
}

// send files the request and, when it is not refused, waits for the provider to accept the message.
func (r *sendCommand) send(cn *connection, v order.View, request order.Request) (answer, error) {
	if refusal := refusedNow(v, request.Address); refusal != "" {
		return answer{Order: v.Key.String(), Outcome: order.OutcomeRefused, Refusal: refusal, Email: v.Facts.Email}, nil
	}
	a, err := cn.ask(request, v.Key)
	a.Email = order.EmailPending
	if err != nil || a.Outcome != order.OutcomeSending && a.Outcome != order.OutcomeJoined {
		return a, err
	}

	_, err = await(cn.ctx, cn.wait, func() (bool, error) {
		v, err := cn.ledger.Order(cn.ctx, v.Key)
		a.Email = generationState(v, a.Generation)
		return a.Email != order.EmailPending, err
	})
	return a, err
}

// refusedNow spares the way through Temporal where the decision is clear. The workflow decides all others.
func refusedNow(v order.View, to string) order.Refusal {
	facts := order.ResendFacts{Payment: v.Facts.Payment, Access: v.Facts.Access, Address: v.Address}
	if to != "" {
		facts.Address = to
	}
	_, refusal := order.DecideResend(facts)
	return refusal
}

// printKnown writes what is known of the earlier messages before another one goes out.
func printKnown(w io.Writer, v order.View, now time.Time) {
	fmt.Fprintf(w, "Order %s\n", v.Key)
	if len(v.Emails) == 0 {
		fmt.Fprintln(w, "  No email is known yet.")
	}
	for _, e := range v.Emails {
		fmt.Fprintf(w, "  Known so far: %s\n", generationLine(e, now))
	}
}

// generationState is the state of one generation of the access email.
func generationState(v order.View, generation int) order.EmailState {
	for _, e := range v.Emails {
		if e.Generation == generation {
			return e.State
		}
	}
	return order.EmailPending
}
