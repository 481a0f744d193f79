package cli

import (
	"fmt"
	"strings"
	"time"

	"handover/internal/app"
	"handover/internal/config"
	"handover/internal/ledger"
)

// How many orders a list shows: what is stuck is not cut off without being asked to.
const (
	newestOrders = 100
	allOrders    = 100_000
)

type listCommand struct {
	Attention bool    `help:"Orders that need a person, the longest wait first."`
	Pending   bool    `help:"Orders that are not finished."`
	Ignored   bool    `help:"Paid sessions without a product of the catalogue."`
	Unreached bool    `help:"Paid orders of which nothing shows that the buyer has it."`
	Email     *string `help:"Orders of this address, in any letter case; - reads it from standard input." placeholder:"ADDRESS"`
	Payment   *string `help:"The order of this payment, as the provider names it." placeholder:"REFERENCE"`
	Limit     int     `help:"Maximum number of orders (100 without a filter, else all)." placeholder:"N"`
	JSON      bool    `help:"Print JSON."`
}

func (l *listCommand) Run(c *console) error {
	filter, err := l.filter(c)
	if err != nil {
		return err
	}
	return c.connect(func(cn *connection) error {
		if filter.Unreached {
			filter.UnreachedAfter = cn.unreachedAfter()
		}
		views, err := cn.ledger.List(c.ctx, filter)
		if err != nil {
			return err
		}
		if l.JSON {
			return c.printJSON(listed(views, c.now()))
		}
		printList(c.Out, views, c.now())
		if len(views) == filter.Limit {
			fmt.Fprintf(c.Out, "\nThere may be more: these are the first %d (--limit N).\n", filter.Limit)
		}
		return nil
	})
}

// filter is what the flags choose.
func (l *listCommand) filter(c *console) (ledger.Filter, error) {
	f := ledger.Filter{Attention: l.Attention, Pending: l.Pending, Ignored: l.Ignored, Unreached: l.Unreached, Limit: l.Limit}
	if l.Payment != nil {
		if f.Payment = strings.TrimSpace(*l.Payment); f.Payment == "" {
			return f, fmt.Errorf("%w: --payment takes the provider's reference, like pi_3Nabc", errUsage)
		}
	}
	if l.Email != nil {
		var err error
		if f.Address, err = c.address("--email", *l.Email); err != nil {
			return f, err
		}
	}

	chosen := 0
	for _, on := range []bool{l.Attention, l.Pending, l.Ignored, l.Unreached, l.Email != nil, l.Payment != nil} {
		if on {
			chosen++
		}
	}
	switch {
	case chosen > 1:
		return f, fmt.Errorf("%w: choose one of --attention, --pending, --ignored, --unreached, --email, --payment", errUsage)
	case l.Limit < 0:
		return f, fmt.Errorf("%w: --limit takes a number from 1 on", errUsage)
	case l.Limit == 0 && chosen > 0:
		f.Limit = allOrders
	case l.Limit == 0:
		f.Limit = newestOrders
	}
	return f, nil
}

// unreachedAfter is the shop's setting where the configuration can be read: a list needs the database alone.
func (cn *connection) unreachedAfter() time.Duration {
	cfg, err := config.Load(cn.settings.ConfigPath, cn.Getenv, app.Known())
	if err != nil {
		return config.DefaultUnreachedAfter
	}
	return cfg.Orders.UnreachedAfter
}
