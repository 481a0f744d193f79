package cli

import (
	"fmt"
	"strings"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/web"
)

type statusCommand struct {
	Order string `arg:"" help:"The order key, ENVIRONMENT/SESSION."`
	JSON  bool   `help:"Print JSON."`
}

func (s *statusCommand) Run(c *console) error {
	return c.withOrder(s.Order, func(l *ledger.Ledger, v order.View) error { return s.show(c, l, v) })
}

func (s *statusCommand) show(c *console, l *ledger.Ledger, v order.View) error {
	if s.JSON {
		return printJSON(c.out, web.Status(v))
	}
	audit, err := l.Audit(c.ctx, v.Key)
	if err != nil {
		return err
	}
	waiting, err := l.Undecided(c.ctx, v.Key)
	if err != nil {
		return err
	}
	PrintStatus(c.out, v, audit, time.Now())
	PrintWaiting(c.out, waiting)
	return nil
}

type listCommand struct {
	Attention bool    `help:"Only orders that need a person, those that have waited longest first."`
	Pending   bool    `help:"Only orders that are not finished yet."`
	Ignored   bool    `help:"Only paid sessions in which nothing is ours."`
	Unreached bool    `help:"Only paid orders whose email came back or did not go out."`
	Email     *string `help:"Only orders of this address, in any letter case." placeholder:"ADDRESS"`
	Payment   *string `help:"Only the order of this payment, as the provider names it." placeholder:"REFERENCE"`
	Limit     int     `help:"At most so many; 100 when nothing is chosen, else all." placeholder:"N"`
	JSON      bool    `help:"Print JSON."`
}

func (l *listCommand) Run(c *console) error {
	chosen := 0
	for _, on := range []bool{l.Attention, l.Pending, l.Ignored, l.Unreached, l.Email != nil, l.Payment != nil} {
		if on {
			chosen++
		}
	}
	if chosen > 1 {
		return fmt.Errorf("%w: choose one of --attention, --pending, --ignored, --unreached, --email, --payment", errUsage)
	}
	filter, err := l.filter(chosen > 0)
	if err != nil {
		return err
	}
	led, closeLedger, err := c.migrated()
	if err != nil {
		return err
	}
	defer closeLedger()
	views, err := led.List(c.ctx, filter)
	if err != nil {
		return err
	}
	if l.JSON {
		return printJSON(c.out, List(views, time.Now()))
	}
	PrintList(c.out, views, time.Now())
	if len(views) == filter.Limit {
		fmt.Fprintf(c.out, "\nThere may be more: these are the first %d (--limit N).\n", filter.Limit)
	}
	return nil
}

// filter is what the flags choose. What is stuck is never cut off without being asked to.
func (l *listCommand) filter(chosen bool) (ledger.Filter, error) {
	f := ledger.Filter{Attention: l.Attention, Pending: l.Pending, Ignored: l.Ignored, Unreached: l.Unreached, Limit: l.Limit}
	switch {
	case l.Limit < 0:
		return f, fmt.Errorf("%w: --limit takes a number from 1 on", errUsage)
	case l.Limit == 0 && chosen:
		f.Limit = 100_000
	case l.Limit == 0:
		f.Limit = 100
	}
	if l.Payment != nil {
		if f.Payment = strings.TrimSpace(*l.Payment); f.Payment == "" {
			return f, fmt.Errorf("%w: --payment takes the provider's reference, like pi_3Nabc", errUsage)
		}
	}
	if l.Email != nil {
		if f.Address = strings.TrimSpace(*l.Email); f.Address == "" {
			return f, fmt.Errorf("%w: --email takes an address", errUsage)
		}
	}
	return f, nil
}
