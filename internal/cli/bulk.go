package cli

import (
	"cmp"
	"fmt"

	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/text"
)

// many are the flags of a command that may be about many orders.
type many struct {
	Since  string `help:"Of many: only those that stopped in the last DURATION, like 3h or 2d." placeholder:"DURATION"`
	DryRun bool   `help:"Show which orders, and change nothing."`
}

// filter completes the choice of many orders; nil stays nil.
func (m many) filter(f *ledger.Filter) (*ledger.Filter, error) {
	since, err := parseSince(m.Since)
	if err != nil {
		return nil, err
	}
	if f == nil {
		if m.Since != "" {
			return nil, fmt.Errorf("%w: --since goes with a choice of many orders", errUsage)
		}
		return nil, nil
	}
	f.Since = since
	return f, nil
}

// why is the reason of a command about many orders. Where nothing is written, it is the choice itself.
func (m many) why(written, choice string) string {
	if m.DryRun || choice != "" {
		return cmp.Or(written, choice, "dry run")
	}
	return written
}

// each asks for the same on every order, one after the other: that keeps within the providers' rates, because an order's
// decision is waited for before the next. Where no worker decides, the rest is only stored and signalled.
func (m many) each(cn *connection, views []order.View, ask func(order.View) (answer, error)) ([]answer, error) {
	answers := make([]answer, len(views))
	for i, v := range views {
		if m.DryRun {
			answers[i] = answer{Order: v.Key.String(), Outcome: outcomeDryRun}
			continue
		}
		var err error
		if answers[i], err = ask(v); err != nil {
			return answers[:i], err
		}
		if answers[i].Outcome == outcomeWaiting {
			cn.wait = 0
		}
	}
	return answers, nil
}

// none says that no order was chosen.
func (m many) none(c *console, asJSON bool, views []order.View, nothing string) {
	switch {
	case asJSON:
	case len(views) == 0:
		fmt.Fprintln(c.Out, nothing)
	case m.DryRun:
		fmt.Fprintf(c.Out, "A dry run: %s would be taken.\n", text.Count(len(views), "order"))
	}
}
