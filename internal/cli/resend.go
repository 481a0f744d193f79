package cli

import (
	"fmt"
	"io"
	"time"

	"handover/internal/flow"
	"handover/internal/order"
)

type resendCommand struct {
	Order  string  `arg:"" help:"ENVIRONMENT/SESSION."`
	Reason string  `required:"" help:"Why. It is kept in the order's audit." placeholder:"TEXT"`
	To     *string `help:"Send to this address from now on." placeholder:"ADDRESS"`
	JSON   bool    `help:"Print JSON."`
}

func (r *resendCommand) Run(c *console) error { return r.run(c, flow.KindResend) }

// relinkCommand is a resend with a new link.
type relinkCommand struct{ resendCommand }

func (r *relinkCommand) Run(c *console) error { return r.run(c, flow.KindRelink) }

func (r *resendCommand) run(c *console, kind string) error {
	request, err := r.request(c, kind)
	if err != nil {
		return err
	}
	return c.withOrder(r.Order, func(cn *connection, v order.View) error {
		if !r.JSON {
			printKnown(c.Out, v, c.now())
		}
		a, err := r.send(cn, v, request)
		if err != nil {
			return err
		}
		return c.report(r.JSON, a, a)
	})
}

func (r *resendCommand) request(c *console, kind string) (order.Request, error) {
	request, err := c.newRequest(kind, r.Reason)
	if err != nil || r.To == nil {
		return request, err
	}
	address, ok := order.CleanAddress(*r.To)
	if !ok {
		return request, fmt.Errorf("%w: --to takes one email address, like alex@example.com", errUsage)
	}
	request.Address = address
	return request, nil
}

// send files the request and, when it is not refused, waits for the provider to accept the message.
func (r *resendCommand) send(cn *connection, v order.View, request order.Request) (answer, error) {
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
