package cli

import (
	"context"
	"errors"
	"fmt"

	"handover/internal/app"
	"handover/internal/config"
	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/text"
)

type replayCommand struct {
	Order     string `arg:"" optional:"" help:"ENVIRONMENT/SESSION, or the reference; also a session that the ledger does not know."`
	Ignored   bool   `help:"All orders without a product of the catalogue."`
	Product   string `help:"All paid orders of this product, with --catalogue." placeholder:"ID"`
	Catalogue bool   `help:"Add what the catalogue gives today and did not give then; take nothing."`
	DryRun    bool   `help:"With --catalogue: show what would be added, and change nothing."`
	JSON      bool   `help:"Print JSON."`
}

func (r *replayCommand) Run(c *console) error {
	chosen := 0
	for _, is := range []bool{r.Order != "", r.Ignored, r.Product != ""} {
		if is {
			chosen++
		}
	}
	switch {
	case chosen != 1:
		return fmt.Errorf("%w: name one ORDER, or --ignored for all orders without a product of the catalogue, or --product ID", errUsage)
	case r.Ignored && r.Catalogue:
		return fmt.Errorf("%w: --catalogue goes with one ORDER or with --product ID", errUsage)
	case r.DryRun && !r.Catalogue && r.Product == "":
		return fmt.Errorf("%w: --dry-run goes with --catalogue", errUsage)
	}
	return c.connect(func(cn *connection) error {
		if r.Catalogue || r.Product != "" {
			return r.catalogue(cn)
		}
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
	if key, malformed := order.ParseKey(r.Order); malformed == nil && errors.Is(err, ledger.ErrNotFound) {
		view, err := cn.unreported(key)
		return []order.View{view}, err
	}
	if err != nil {
		return nil, err
	}
	if v := views[0]; v.Facts.Payment == order.PaymentConfirmed && v.Reason != order.ReasonItemsUnknown {
		return nil, fmt.Errorf("order %s is confirmed and everything in it is in the catalogue: there is nothing to check again (--catalogue adds what it gives today)", v.Key)
	}
	return views, nil
}

// unreported makes an order of a session that nobody has reported, also of one from before Handover served the
// environment: a person says that it is ours to deliver. The provider has to know it.
func (cn *connection) unreported(key order.Key) (order.View, error) {
	cfg, err := config.Load(cn.settings.ConfigPath, cn.Getenv, app.Known())
	if err != nil {
		return order.View{}, err
	}
	providers, err := cn.providers(cfg)
	if err != nil {
		return order.View{}, err
	}
	provider, configured := providers[key.Environment]
	if !configured || !provider.ValidSession(key.Session) {
		return order.View{}, fmt.Errorf("order %s is %w, and cannot be a session of a configured environment", key, ledger.ErrNotFound)
	}
	var failed *payment.APIError
	_, err = provider.Session(cn.ctx, key.Session)
	switch {
	case errors.As(err, &failed) && failed.Status/100 == 4:
		return order.View{}, fmt.Errorf("order %s is %w, and its provider does not know it (HTTP %d)", key, ledger.ErrNotFound, failed.Status)
	case err != nil:
		return order.View{}, fmt.Errorf("order %s is not in the ledger, and its provider does not respond: try again: %w", key, err)
	}
	if err := cn.ledger.ImportSale(cn.ctx, key, ledger.FoundByHand); err != nil {
		return order.View{}, err
	}
	return cn.ledger.Order(cn.ctx, key)
}

// catalogue adds to orders what the catalogue gives today, and has their runs give it.
func (r *replayCommand) catalogue(cn *connection) error {
	cfg, err := config.Load(cn.settings.ConfigPath, cn.Getenv, app.Known())
	if err != nil {
		return err
	}
	products := order.NewCatalogue(cfg.Products)
	if _, known := products.Product(r.Product); r.Product != "" && !known {
		return fmt.Errorf("%w: the catalogue has no product %q", errUsage, r.Product)
	}
	var filter *ledger.Filter
	if r.Product != "" {
		filter = &ledger.Filter{Product: r.Product}
	}
	views, err := cn.selectOrders(r.Order, filter)
	if err != nil {
		return err
	}
	answers := []answer{}
	skipped := 0
	for _, v := range views {
		missing, err := cn.ledger.AddAccess(cn.ctx, v.Key, products, cn.who, r.DryRun)
		switch {
		case errors.Is(err, ledger.ErrNotAsBought) && r.Order != "":
			return fmt.Errorf("order %s: %w, so nothing is added to it", v.Key, err)
		case errors.Is(err, ledger.ErrNotAsBought):
			skipped++
			continue
		case err != nil:
			return err
		case len(missing) == 0:
			continue
		}
		a := answer{Order: v.Key.String(), Outcome: outcomeAdded}
		for _, e := range missing {
			a.Added = append(a.Added, e.Subject())
		}
		if r.DryRun {
			a.Outcome = outcomeDryRun
		} else if err := cn.call(func(ctx context.Context, d dispatcher) error { return d.Replay(ctx, v.Key) }); err != nil {
			fmt.Fprintf(cn.Err, "starter: %v; what was added is stored, and the reconciliation has it given when that is fixed\n", err)
		}
		answers = append(answers, a)
	}
	if !r.JSON {
		fmt.Fprintf(cn.Out, "%s checked, %d with something to add.\n", text.Count(len(views), "order"), len(answers))
		if skipped > 0 {
			fmt.Fprintf(cn.Out, "%s left alone: %v.\n", text.Count(skipped, "order"), ledger.ErrNotAsBought)
		}
	}
	return cn.report(r.JSON, answers, answers...)
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
