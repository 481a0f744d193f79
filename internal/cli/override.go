package cli

import (
	"errors"
	"fmt"
	"time"

	"handover/internal/flow"
	"handover/internal/ledger"
	"handover/internal/order"
)

// verdictCommand is what revoke and restore share.
type verdictCommand struct {
	Order  string `arg:"" help:"The order key, ENVIRONMENT/SESSION."`
	Reason string `required:"" help:"Why. It is kept in the order's audit." placeholder:"TEXT"`
	JSON   bool   `help:"Print JSON."`
}

type revokeCommand struct{ verdictCommand }

func (r *revokeCommand) Run(c *console) error { return r.run(c, flow.KindRevoke) }

type restoreCommand struct{ verdictCommand }

func (r *restoreCommand) Run(c *console) error { return r.run(c, flow.KindRestore) }

func (v *verdictCommand) run(c *console, kind string) error {
	request, err := newRequest(kind, v.Reason)
	if err != nil {
		return err
	}
	return c.withOrder(v.Order, func(l *ledger.Ledger, view order.View) error {
		request.Key = view.Key
		return v.ask(c, l, request)
	})
}

func (v *verdictCommand) ask(c *console, l *ledger.Ledger, request order.Request) error {
	handedOver, err := c.file(l, request)
	if err != nil {
		return err
	}
	answer := retried{Order: request.Key.String(), Outcome: "waiting"}
	changed := false
	if handedOver {
		if answer, err = decided(c, l, request); err != nil {
			return err
		}
		if changed, err = carriedOut(c, l, request.Key); err != nil {
			return err
		}
	}
	if v.JSON {
		if err := printJSON(c.out, answer); err != nil {
			return err
		}
	}
	switch {
	case answer.Outcome == order.OutcomeRefused && v.JSON:
		return errors.New("refused: " + answer.Refusal.Message())
	case answer.Outcome == order.OutcomeRefused:
		return fmt.Errorf("%s: refused: %s", answer.Order, answer.Refusal.Message())
	case !v.JSON && handedOver: // else it is said already
		fmt.Fprintln(c.out, verdictSentence(answer, changed))
	}
	return nil
}

// carriedOut waits until the access is as it has to be, for ten seconds at most.
func carriedOut(c *console, l *ledger.Ledger, key order.Key) (bool, error) {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(25 * time.Millisecond) {
		v, err := l.Order(c.ctx, key)
		if err != nil || !v.AccessChangeDue || time.Now().After(deadline) {
			return err == nil && !v.AccessChangeDue, err
		}
	}
}

func verdictSentence(a retried, changed bool) string {
	switch {
	case a.Outcome == order.OutcomeRevoking && !changed:
		return a.Order + ": access is being ended, and that is not carried out yet: until then downloads still open. Look with: starter status " + a.Order
	case a.Outcome == order.OutcomeRestoring && !changed:
		return a.Order + ": access is being given back, and that is not carried out yet. Look with: starter status " + a.Order
	case a.Outcome == order.OutcomeRevoking:
		return a.Order + ": access has ended; downloads and links are refused from now on. No email is sent: the order page says so. To give it back: starter restore " + a.Order + " --reason TEXT"
	case a.Outcome == order.OutcomeRestoring:
		return a.Order + ": access is as it was bought, under the same links. Look with: starter status " + a.Order
	}
	return a.Order + ": the signal is with Temporal, and no worker has answered yet. It is carried out once a worker runs; look with: starter status " + a.Order
}
