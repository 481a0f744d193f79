package cli

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"handover/internal/flow"
	"handover/internal/ledger"
	"handover/internal/order"
)

type resendCommand struct {
	Order  string  `arg:"" help:"The order key, ENVIRONMENT/SESSION."`
	Reason string  `required:"" help:"Why. It is kept in the order's audit." placeholder:"TEXT"`
	To     *string `help:"Send to this address from now on." placeholder:"ADDRESS"`
	JSON   bool    `help:"Print JSON."`

	kind string
}

// relinkCommand is a resend with a new link.
type relinkCommand struct{ resendCommand }

func (r *relinkCommand) Run(c *console) error {
	r.kind = flow.KindRelink
	return r.resendCommand.Run(c)
}

// resendJSON is the command's answer.
type resendJSON struct {
	Order      string           `json:"order"`
	Outcome    string           `json:"outcome"` // sending, joined, refused, or waiting when nobody has decided yet
	Refusal    order.Refusal    `json:"refusal,omitempty"`
	Generation int              `json:"generation,omitempty"`
	Email      order.EmailState `json:"email"`
}

func (r *resendCommand) Run(c *console) error {
	request, err := r.request()
	if err != nil {
		return err
	}
	return c.withOrder(r.Order, func(l *ledger.Ledger, v order.View) error {
		request.Key = v.Key
		return r.ask(c, l, v, request)
	})
}

func (r *resendCommand) ask(c *console, l *ledger.Ledger, v order.View, request order.Request) error {
	if !r.JSON {
		showKnown(c.out, v)
	}
	if refusal := refusedNow(v, request.Address); refusal != "" {
		return r.refused(c, v.Key, refusal)
	}
	handedOver, err := c.file(l, request)
	if err != nil {
		return err
	}
	return r.await(c, l, request, handedOver)
}

func (r *resendCommand) request() (order.Request, error) {
	request, err := newRequest(cmp.Or(r.kind, flow.KindResend), r.Reason)
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

// showKnown says what is known of the earlier message before another one goes out.
func showKnown(w io.Writer, v order.View) {
	fmt.Fprintf(w, "Order %s\n", v.Key)
	if len(v.Emails) == 0 {
		fmt.Fprintln(w, "  No email has been owed yet.")
		return
	}
	for _, line := range Emails(v, time.Now()) {
		fmt.Fprintf(w, "  Known so far: %s\n", line)
	}
}

// refusedNow spares the way through Temporal where the answer is clear. The decision itself is taken there.
func refusedNow(v order.View, to string) order.Refusal {
	facts := order.ResendFacts{Payment: v.Facts.Payment, Access: v.Facts.Access, Address: v.Address}
	if to != "" {
		facts.Address = to
	}
	_, refusal := order.DecideResend(facts)
	return refusal
}

func (r *resendCommand) refused(c *console, key order.Key, refusal order.Refusal) error {
	if r.JSON {
		if err := printJSON(c.out, resendJSON{Order: key.String(), Outcome: string(order.OutcomeRefused), Refusal: refusal}); err != nil {
			return err
		}
	}
	return fmt.Errorf("refused: %s", refusal.Message())
}

// await shows what was decided and, when it comes soon, that the provider has accepted the message.
func (r *resendCommand) await(c *console, l *ledger.Ledger, request order.Request, handedOver bool) error {
	answer := resendJSON{Order: request.Key.String(), Outcome: "waiting", Email: order.EmailPending}
	deadline := time.Now().Add(20 * time.Second)
	for handedOver && time.Now().Before(deadline) && c.ctx.Err() == nil {
		d, decided, err := l.Decided(c.ctx, request)
		if err != nil {
			return err
		}
		if decided {
			answer.Outcome, answer.Refusal, answer.Generation = string(d.Outcome), d.Refusal, d.Generation
			if d.Outcome == order.OutcomeRefused {
				return r.refused(c, request.Key, d.Refusal)
			}
			v, err := l.Order(c.ctx, request.Key)
			if err != nil {
				return err
			}
			if answer.Email = Generation(v, d.Generation); answer.Email != order.EmailPending {
				break
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	if r.JSON {
		return printJSON(c.out, answer)
	}
	if !handedOver {
		return nil // said already
	}
	fmt.Fprintln(c.out, resendSentence(answer))
	return nil
}

func resendSentence(a resendJSON) string {
	switch {
	case a.Outcome == "waiting":
		return "The signal is with Temporal, and no worker has answered yet. It is carried out once a worker runs; look with: starter status " + a.Order
	case a.Email == order.EmailAccepted:
		return fmt.Sprintf("Generation %d was accepted by the email provider. Accepted is not delivered.", a.Generation)
	case a.Outcome == string(order.OutcomeJoined):
		return fmt.Sprintf("Generation %d is already on its way to the same address: this request has joined it.", a.Generation)
	case a.Email == order.EmailPending:
		return fmt.Sprintf("Generation %d is on its way; the provider has not accepted it yet. Look with: starter status %s", a.Generation, a.Order)
	}
	return fmt.Sprintf("Generation %d needs attention. Look with: starter status %s", a.Generation, a.Order)
}
