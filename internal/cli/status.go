package cli

import (
	"handover/internal/order"
)

type statusCommand struct {
	Order string `arg:"" help:"ENVIRONMENT/SESSION."`
	JSON  bool   `help:"Print JSON."`
}

func (s *statusCommand) Run(c *console) error {
	return c.withOrder(s.Order, func(cn *connection, v order.View) error {
		if s.JSON {
			return c.printJSON(order.Status(v))
		}
		audit, err := cn.ledger.Audit(c.ctx, v.Key)
		if err != nil {
			return err
		}
		waiting, err := cn.ledger.Undecided(c.ctx, v.Key)
		if err != nil {
			return err
		}
		printStatus(c.Out, v, audit, c.now())
		printUndecided(c.Out, waiting)
		return nil
	})
}
