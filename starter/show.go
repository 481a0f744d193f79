package main

import (
	"errors"
	"fmt"
	"time"

	"handover/internal/ledger"
	"handover/internal/operator"
	"handover/internal/web"
)

type statusCommand struct {
	Order string `arg:"" help:"The order key, ENVIRONMENT/SESSION."`
	JSON  bool   `help:"Print JSON."`
}

func (s *statusCommand) Run(c *console) error {
	l, closeLedger, err := c.migrated()
	if err != nil {
		return err
	}
	defer closeLedger()
	v, err := readOrder(c.ctx, l, s.Order)
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(c.out, web.Status(v))
	}
	audit, err := l.Audit(c.ctx, v.Key)
	if err != nil {
		return err
	}
	operator.PrintStatus(c.out, v, audit, time.Now())
	return nil
}

type listCommand struct {
	Attention bool   `help:"Only orders that need a person, those that have waited longest first."`
	Pending   bool   `help:"Only orders that are not finished yet."`
	Ignored   bool   `help:"Only paid sessions in which nothing is ours."`
	Email     string `help:"Only orders of this address, in any letter case." placeholder:"ADDRESS"`
	Limit     int    `help:"At most so many." default:"100"`
	JSON      bool   `help:"Print JSON."`
}

func (l *listCommand) Run(c *console) error {
	chosen := 0
	for _, on := range []bool{l.Attention, l.Pending, l.Ignored, l.Email != ""} {
		if on {
			chosen++
		}
	}
	if chosen > 1 {
		return fmt.Errorf("%w: choose one of --attention, --pending, --ignored, --email", errUsage)
	}
	if l.Limit < 1 {
		return errors.Join(errUsage, errors.New("--limit takes a number from 1 on"))
	}
	led, closeLedger, err := c.migrated()
	if err != nil {
		return err
	}
	defer closeLedger()
	views, err := led.List(c.ctx, ledger.Filter{Attention: l.Attention, Pending: l.Pending, Ignored: l.Ignored, Address: l.Email, Limit: l.Limit})
	if err != nil {
		return err
	}
	if l.JSON {
		return printJSON(c.out, operator.List(views, time.Now()))
	}
	operator.PrintList(c.out, views, time.Now())
	return nil
}
