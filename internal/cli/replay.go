package cli

import (
	"context"
	"fmt"

	"handover/internal/ledger"
	"handover/internal/order"
)

type replayCommand struct {
	Order   string `arg:"" optional:"" help:"ENVIRONMENT/SESSION."`
	Ignored bool   `help:"All orders without a product of the catalogue."`
	JSON    bool   `help:"Print JSON."`
}

func (r *replayCommand) Run(c *console) error {
	if (r.Order == "") == !r.Ignored {
		return fmt.Errorf("%w: name one ORDER, or --ignored for all orders without a product of the catalogue", errUsage)
	}
	return c.connect(func(cn *connection) error {
		views, err := r.selected(cn)
		if err != nil {
			return err
		}
		answers := make([]answer, len(views))
		for i, v := range views {
			if answers[i], err = cn.replay(v); err != nil {
				return err
			}
		}
		if len(views) == 0 && !r.JSON {
			fmt.Fprintln(c.Out, "There are no orders to check again.")
		}
		return c.report(r.JSON, answers, answers...)
	})
}

// selected are the orders that another check can change. A settled one is refused.
func (r *replayCommand) selected(cn *connection) ([]order.View, error) {
	if r.Ignored {
		return cn.selectOrders("", &ledger.Filter{Ignored: true})
	}
	views, err := cn.selectOrders(r.Order, nil)
	if err != nil {
		return nil, err
	}
	if v := views[0]; v.Facts.Payment == order.PaymentConfirmed && v.Reason != order.ReasonItemsUnknown {
		return nil, fmt.Errorf("order %s is confirmed and everything in it is in the catalogue: there is nothing to check again", v.Key)
	}
	return views, nil
}

// replay makes the order's workflow check the payment again, and waits until it has.
func (cn *connection) replay(before order.View) (answer, error) {
	a := answer{Order: before.Key.String(), Outcome: outcomeWaiting}
	if err := cn.call(func(ctx context.Context, d dispatcher) error { return d.Replay(ctx, before.Key) }); err != nil {
		return a, fmt.Errorf("%w: nothing was changed for %s", err, before.Key)
	}

	checked, err := await(cn.ctx, cn.wait, func() (bool, error) {
		v, err := cn.ledger.Order(cn.ctx, before.Key)
		if err != nil {
			return false, err
		}
		a.replayed = &replayed{Payment: v.Facts.Payment, Reason: v.Reason}
		return v.CheckedAt != nil && (before.CheckedAt == nil || v.CheckedAt.After(*before.CheckedAt)), nil
	})
	if checked {
		a.Outcome, a.Looked = outcomeChecked, true
	}
	return a, err
}
