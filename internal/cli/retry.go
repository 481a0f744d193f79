package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"handover/internal/flow"
	"handover/internal/ledger"
	"handover/internal/order"
)

type retryCommand struct {
	Order         string `arg:"" optional:"" help:"The order key, ENVIRONMENT/SESSION."`
	Misconfigured bool   `help:"Everything that a fault in the settings held back."`
	Reason        string `required:"" help:"Why. It is kept in the order's audit." placeholder:"TEXT"`
	JSON          bool   `help:"Print JSON."`
}

// retried is one order in the JSON of a retry.
type retried struct {
	Order   string        `json:"order"`
	Outcome order.Outcome `json:"outcome"` // retrying, refused, or waiting when no worker has decided yet
	Refusal order.Refusal `json:"refusal,omitempty"`
}

func (r *retryCommand) Run(c *console) error {
	if (r.Order == "") == !r.Misconfigured {
		return fmt.Errorf("%w: name one ORDER, or --misconfigured for everything that a fault in the settings held back", errUsage)
	}
	request, err := newRequest(flow.KindRetry, r.Reason)
	if err != nil {
		return err
	}
	l, closeLedger, err := c.migrated()
	if err != nil {
		return err
	}
	defer closeLedger()
	views, err := r.chosen(c, l)
	if err != nil {
		return err
	}
	answers := []retried{}
	for _, v := range views {
		request.Key, request.ID = v.Key, "starter/"+uuid.NewString()
		handedOver, err := c.file(l, request)
		if err != nil {
			return err
		}
		answer := retried{Order: request.Key.String(), Outcome: "waiting"}
		if handedOver {
			if answer, err = decided(c, l, request); err != nil {
				return err
			}
		}
		answers = append(answers, answer)
	}
	return r.print(c, answers)
}

func (r *retryCommand) chosen(c *console, l *ledger.Ledger) ([]order.View, error) {
	if r.Misconfigured {
		return l.List(c.ctx, ledger.Filter{Attention: true, Class: order.ClassMisconfigured, Limit: 10_000})
	}
	v, err := readOrder(c.ctx, l, r.Order)
	return []order.View{v}, err
}

// decided waits until a worker has decided the request, for ten seconds at most.
func decided(c *console, l *ledger.Ledger, request order.Request) (retried, error) {
	answer := retried{Order: request.Key.String(), Outcome: "waiting"}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline) && c.ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		d, known, err := l.Decided(c.ctx, request)
		if err != nil {
			return answer, err
		}
		if known {
			answer.Outcome, answer.Refusal = d.Outcome, d.Refusal
			return answer, nil
		}
	}
	return answer, nil
}

// print answers on standard output, and what was refused with its reason on standard error.
func (r *retryCommand) print(c *console, answers []retried) error {
	if r.JSON {
		if err := printJSON(c.out, answers); err != nil {
			return err
		}
	}

	var refused []string
	for _, a := range answers {
		switch {
		case a.Outcome == order.OutcomeRefused:
			refused = append(refused, retrySentence(a))
		case !r.JSON:
			fmt.Fprintln(c.out, retrySentence(a))
		}
	}
	if len(answers) == 0 && !r.JSON {
		fmt.Fprintln(c.out, "No order is held back by a fault in the settings.")
	}

	switch {
	case len(refused) == 0:
		return nil
	case len(answers) == 1:
		return errors.New(refused[0])
	}
	for _, sentence := range refused {
		fmt.Fprintln(c.errs, sentence)
	}
	return fmt.Errorf("%d of %d were refused", len(refused), len(answers))
}

func retrySentence(a retried) string {
	switch a.Outcome {
	case order.OutcomeRefused:
		return a.Order + ": refused: " + a.Refusal.Message()
	case order.OutcomeRetrying:
		return a.Order + ": what had stopped is worked on again; look with: starter status " + a.Order
	}
	return a.Order + ": waiting for a worker; look with: starter status " + a.Order
}
