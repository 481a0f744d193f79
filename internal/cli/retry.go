package cli

import (
	"fmt"
	"slices"

	"handover/internal/flow"
	"handover/internal/ledger"
	"handover/internal/order"
)

type retryCommand struct {
	Order         string `arg:"" optional:"" help:"ENVIRONMENT/SESSION, or the reference."`
	Misconfigured bool   `help:"All orders that a fault in the settings holds back."`
	ReasonIs      string `help:"All orders that need attention for this reason, like payment_not_retrievable." placeholder:"REASON"`
	many
	Reason string `help:"Why. It is kept in the order's audit." placeholder:"TEXT"`
	JSON   bool   `help:"Print JSON."`
}

func (r *retryCommand) Run(c *console) error {
	filter, err := r.filter()
	if err != nil {
		return err
	}
	choice := ""
	if filter != nil {
		choice = "the cause is gone"
	}
	request, err := c.newRequest(flow.KindRetry, r.why(r.Reason, choice))
	if err != nil {
		return err
	}
	return c.connect(func(cn *connection) error {
		views, err := cn.selectOrders(r.Order, filter)
		if err != nil {
			return err
		}
		r.none(c, r.JSON, views, "No order is held back by that.")
		answers, err := r.each(cn, views, func(v order.View) (answer, error) { return cn.ask(request, v.Key) })
		if err != nil {
			return err
		}
		return c.report(r.JSON, answers, answers...)
	})
}

// filter is nil when one order is named.
func (r *retryCommand) filter() (*ledger.Filter, error) {
	chosen := 0
	for _, on := range []bool{r.Order != "", r.Misconfigured, r.ReasonIs != ""} {
		if on {
			chosen++
		}
	}
	reason := order.Reason(r.ReasonIs)
	switch {
	case chosen != 1:
		return nil, fmt.Errorf("%w: name one ORDER, or choose many by --reason-is REASON or --misconfigured", errUsage)
	case r.ReasonIs != "" && (!slices.Contains(order.Reasons(), reason) || reason.Step() == ""):
		return nil, fmt.Errorf("%w: --reason-is takes a reason as starter list --attention --json has it, like payment_not_retrievable", errUsage)
	case r.Misconfigured:
		return r.many.filter(&ledger.Filter{Attention: true, Class: order.ClassMisconfigured})
	case r.ReasonIs != "":
		return r.many.filter(&ledger.Filter{Attention: true, Reason: reason})
	}
	return r.many.filter(nil)
}
