package cli

import (
	"fmt"

	"handover/internal/flow"
	"handover/internal/ledger"
	"handover/internal/order"
)

type retryCommand struct {
	Order         string `arg:"" optional:"" help:"ENVIRONMENT/SESSION."`
	Misconfigured bool   `help:"All orders that a fault in the settings holds back."`
	Reason        string `required:"" help:"Why. It is kept in the order's audit." placeholder:"TEXT"`
	JSON          bool   `help:"Print JSON."`
}

func (r *retryCommand) Run(c *console) error {
	if (r.Order == "") == !r.Misconfigured {
		return fmt.Errorf("%w: name one ORDER, or --misconfigured for all orders that a fault in the settings holds back", errUsage)
	}
	request, err := c.newRequest(flow.KindRetry, r.Reason)
	if err != nil {
		return err
	}
	return c.connect(func(cn *connection) error {
		views, err := cn.selectOrders(r.Order, r.filter())
		if err != nil {
			return err
		}
		answers := make([]answer, len(views))
		for i, v := range views {
			if answers[i], err = cn.ask(request, v.Key); err != nil {
				return err
			}
		}
		if len(views) == 0 && !r.JSON {
			fmt.Fprintln(c.Out, "No order is held back by a fault in the settings.")
		}
		return c.report(r.JSON, answers, answers...)
	})
}

// filter is nil when one order is named.
func (r *retryCommand) filter() *ledger.Filter {
	if !r.Misconfigured {
		return nil
	}
	return &ledger.Filter{Attention: true, Class: order.ClassMisconfigured}
}
