package cli

import (
	"errors"
	"fmt"

	"handover/internal/ledger"
	"handover/internal/order"
)

type eraseCommand struct {
	Order  string `arg:"" help:"ENVIRONMENT/SESSION."`
	Reason string `required:"" help:"Why. It is kept in the order's audit." placeholder:"TEXT"`
	JSON   bool   `help:"Print JSON."`
}

// Run erases the buyer from Postgres. Temporal's histories hold nothing of a buyer.
func (e *eraseCommand) Run(c *console) error {
	request, err := c.newRequest("erase", e.Reason)
	if err != nil {
		return err
	}
	return c.withOrder(e.Order, func(cn *connection, v order.View) error {
		err := cn.ledger.Erase(c.ctx, v.Key, request.Who, request.Why)
		if errors.Is(err, ledger.ErrUnderWay) {
			return fmt.Errorf(textEraseUnderWay, v.Key, v.Key)
		}
		if err != nil {
			return err
		}
		if e.JSON {
			return c.printJSON(map[string]any{"order": v.Key.String(), "erased": true})
		}
		fmt.Fprintf(c.Out, textErased, v.Key)
		return nil
	})
}
