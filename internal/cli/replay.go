package cli

import (
	"context"
	"fmt"
	"time"

	"handover/internal/dispatch"
	"handover/internal/ledger"
	"handover/internal/order"
)

type replayCommand struct {
	Order   string `arg:"" optional:"" help:"The order key, ENVIRONMENT/SESSION."`
	Ignored bool   `help:"All orders in which nothing was ours."`
	JSON    bool   `help:"Print JSON."`
}

// replayed is one order in the JSON of a replay.
type replayed struct {
	Order   string             `json:"order"`
	Payment order.PaymentState `json:"payment"`
	Reason  order.Reason       `json:"reason"`
	Looked  bool               `json:"looked"` // false when no worker has looked yet
}

func (r *replayCommand) Run(c *console) error {
	if (r.Order == "") == !r.Ignored {
		return fmt.Errorf("%w: name one ORDER, or --ignored for all orders in which nothing was ours", errUsage)
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
	var done []replayed
	for _, v := range views {
		err := c.withDispatcher(l, func(ctx context.Context, d *dispatch.Dispatcher) error { return d.Replay(ctx, v.Key) })
		if err != nil {
			return fmt.Errorf("%w: nothing was changed for %s", err, v.Key)
		}
		one, err := looked(c.ctx, l, v)
		if err != nil {
			return err
		}
		done = append(done, one)
	}
	return r.print(c, done)
}

// chosen are the orders that another look can change. One that is settled is left alone.
func (r *replayCommand) chosen(c *console, l *ledger.Ledger) ([]order.View, error) {
	if r.Ignored {
		return l.List(c.ctx, ledger.Filter{Ignored: true, Limit: 10_000})
	}
	v, err := readOrder(c.ctx, l, r.Order)
	if err != nil {
		return nil, err
	}
	if v.Facts.Payment == order.PaymentConfirmed && v.Reason != order.ReasonItemsUnknown {
		return nil, fmt.Errorf("order %s is confirmed and everything in it is in the catalogue: there is nothing to look at again", v.Key)
	}
	return []order.View{v}, nil
}

// looked waits until a worker has asked the provider again, for ten seconds at most.
func looked(ctx context.Context, l *ledger.Ledger, before order.View) (replayed, error) {
	deadline := time.Now().Add(10 * time.Second)
	for {
		v, err := l.Order(ctx, before.Key)
		if err != nil {
			return replayed{}, err
		}
		again := v.CheckedAt != nil && (before.CheckedAt == nil || v.CheckedAt.After(*before.CheckedAt))
		if again || time.Now().After(deadline) {
			return replayed{Order: v.Key.String(), Payment: v.Facts.Payment, Reason: v.Reason, Looked: again}, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (r *replayCommand) print(c *console, done []replayed) error {
	if r.JSON {
		if done == nil {
			done = []replayed{}
		}
		return printJSON(c.out, done)
	}
	if len(done) == 0 {
		fmt.Fprintln(c.out, "No orders to look at again.")
	}
	for _, one := range done {
		switch {
		case !one.Looked:
			fmt.Fprintf(c.out, "%s: the signal is with Temporal, and no worker has looked yet\n", one.Order)
		case one.Payment == order.PaymentIgnored:
			fmt.Fprintf(c.out, "%s: still nothing in it is in the catalogue\n", one.Order)
		case one.Reason != "":
			fmt.Fprintf(c.out, "%s: payment %s, still needs attention: %s\n", one.Order, one.Payment, one.Reason)
		default:
			fmt.Fprintf(c.out, "%s: payment %s, what is owed is being delivered\n", one.Order, one.Payment)
		}
	}
	return nil
}
