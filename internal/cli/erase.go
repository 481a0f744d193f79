package cli

import (
	"errors"
	"fmt"

	"handover/internal/ledger"
	"handover/internal/order"
)

type eraseCommand struct {
	Order  string `arg:"" help:"The order key, ENVIRONMENT/SESSION."`
	Reason string `required:"" help:"Why. It is kept in the order's audit." placeholder:"TEXT"`
	JSON   bool   `help:"Print JSON."`
}

// Run forgets the buyer. Nothing of a buyer is in Temporal's histories, so Postgres is all there is to erase.
func (e *eraseCommand) Run(c *console) error {
	request, err := newRequest("erase", e.Reason)
	if err != nil {
		return err
	}
	return c.withOrder(e.Order, func(l *ledger.Ledger, v order.View) error {
		request.Key = v.Key
		return e.erase(c, l, request)
	})
}

func (e *eraseCommand) erase(c *console, l *ledger.Ledger, r order.Request) error {
	err := l.Erase(c.ctx, r.Key, r.Who, r.Why)
	if errors.Is(err, ledger.ErrUnderWay) {
		return fmt.Errorf("%s: something is still owed on this order, for which the buyer has to be known. Let it finish, or end it with: starter revoke %s --reason TEXT", r.Key, r.Key)
	}
	if err != nil {
		return err
	}
	if e.JSON {
		return printJSON(c.out, map[string]any{"order": r.Key.String(), "erased": true})
	}
	fmt.Fprintf(c.out, "%s: the buyer's address and name, the emails and the providers' events are erased. What was bought, the licence keys and the buyer's own link stay. The payment and email providers keep records of their own.\n", r.Key)
	return nil
}
