package main

import (
	"errors"
	"fmt"

	"handover/internal/ledger"
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
	l, closeLedger, err := c.migrated()
	if err != nil {
		return err
	}
	defer closeLedger()
	v, err := readOrder(c.ctx, l, e.Order)
	if err != nil {
		return err
	}
	err = l.Erase(c.ctx, v.Key, request.Who, request.Why)
	if errors.Is(err, ledger.ErrUnderWay) {
		return fmt.Errorf("%s: something is still owed on this order, for which the buyer has to be known. Let it finish, or end it with: starter revoke %s --reason TEXT", v.Key, v.Key)
	}
	if err != nil {
		return err
	}
	if e.JSON {
		return printJSON(c.out, map[string]any{"order": v.Key.String(), "erased": true})
	}
	fmt.Fprintf(c.out, "%s: the buyer's address and name, the emails and the providers' events are erased. What was bought, the licence keys and the buyer's own link stay. The payment and email providers keep records of their own.\n", v.Key)
	return nil
}
