package cli

import (
	"handover/internal/flow"
	"handover/internal/order"
)

// accessCommand is what revoke and restore share.
type accessCommand struct {
	Order  string `arg:"" help:"ENVIRONMENT/SESSION."`
	Reason string `required:"" help:"Why. It is kept in the order's audit." placeholder:"TEXT"`
	JSON   bool   `help:"Print JSON."`
}

type revokeCommand struct{ accessCommand }

func (r *revokeCommand) Run(c *console) error { return r.run(c, flow.KindRevoke) }

type restoreCommand struct{ accessCommand }

func (r *restoreCommand) Run(c *console) error { return r.run(c, flow.KindRestore) }

func (a *accessCommand) run(c *console, kind string) error {
	request, err := c.newRequest(kind, a.Reason)
	if err != nil {
		return err
	}
	return c.withOrder(a.Order, func(cn *connection, v order.View) error {
		result, err := cn.ask(request, v.Key)
		if err != nil {
			return err
		}
		if result.Outcome == order.OutcomeRevoking || result.Outcome == order.OutcomeRestoring {
			result.applied, err = await(c.ctx, c.wait, func() (bool, error) {
				v, err := cn.ledger.Order(c.ctx, v.Key)
				return err == nil && !v.AccessChangeDue, err
			})
			if err != nil {
				return err
			}
		}
		return c.report(a.JSON, result, result)
	})
}
