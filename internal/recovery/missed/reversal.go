package missed

import (
	"context"
	"time"

	"handover/internal/order"
)

// Reversals counts what one run over an environment's refunds and disputes found.
type Reversals struct {
	Checked  int       `json:"checked"`  // refunds and disputes in the provider's list
	Repaired int       `json:"repaired"` // orders of which nobody had reported one
	Ignored  int       `json:"ignored"`  // of no order of ours, or known
	Left     int       `json:"left"`     // orders whose workflow could not be signalled
	Since    time.Time `json:"since"`
	// CompleteUntil is the high-water mark: every refund and dispute up to then is in the ledger.
	CompleteUntil time.Time   `json:"complete_until"`
	Problem       order.Class `json:"problem,omitempty"`
}

// Reversals goes through the refunds and disputes of one environment, and has those read that nobody reported. Like Run it
// leaves fresh ones to their webhook, where the provider says when they were.
func (r *Sales) Reversals(ctx context.Context, e Environment, o Options) (Reversals, error) {
	began := r.Now()
	window, err := r.Ledger.SyncWindow(ctx, e.Name)
	if err != nil || window.Until.IsZero() {
		return Reversals{Since: began, CompleteUntil: began}, err
	}
	since := window.ReversalsUntil
	if o.Since > 0 {
		since = began.Add(-o.Since)
	}
	p := &run{Sales: r, e: e, o: o}
	result := Reversals{Since: since, CompleteUntil: window.ReversalsUntil}
	fresh, err := p.reversals(ctx, since, &result)
	if err != nil {
		return result, err
	}
	if until := began.Add(-grace); !since.After(window.ReversalsUntil) && result.Problem == "" && !o.DryRun && until.After(window.ReversalsUntil) {
		if !fresh {
			until = began
		}
		result.CompleteUntil = until
		return result, r.Ledger.AdvanceReversals(ctx, e.Name, until)
	}
	return result, nil
}

// reversals reads the list to its end. It says whether some were left to their webhook.
func (p *run) reversals(ctx context.Context, since time.Time, sum *Reversals) (fresh bool, err error) {
	for cursor := ""; ; {
		var page []order.Reversed
		var next string
		class := p.withRetries(ctx, func(ctx context.Context) (err error) {
			page, next, err = p.e.Provider.ReversalsSince(ctx, since, cursor)
			return err
		})
		if class != "" {
			sum.Problem = class
			return fresh, ctx.Err()
		}
		sum.Checked += len(page)
		var settled []order.Reversed
		for _, r := range page {
			if p.o.Since == 0 && !r.At.IsZero() && p.Now().Sub(r.At) < grace {
				fresh = true
				continue
			}
			settled = append(settled, r)
		}
		unread, err := p.Ledger.UnreadReversals(ctx, p.e.Name, settled)
		if err != nil {
			return fresh, err
		}
		sum.Ignored += len(settled) - len(unread)
		for _, key := range unread {
			if err := p.reread(ctx, key, sum); err != nil {
				return fresh, err
			}
			p.heartbeat()
		}
		p.heartbeat()
		if next == "" || next == cursor {
			return fresh, nil
		}
		cursor = next
	}
}

// reread has the run of an order read its refunds and disputes.
func (p *run) reread(ctx context.Context, key order.Key, sum *Reversals) error {
	if p.o.DryRun {
		sum.Repaired++
		return nil
	}
	if err := p.Ledger.ReversalMissed(ctx, key); err != nil {
		return err
	}
	if err := p.Runs.Review(ctx, key); err != nil {
		p.Log.WarnContext(ctx, "missed reversal noted but not dispatched", "order", key.String(), "error", err)
		sum.Left++ // it is due in the ledger now: the search for stuck orders dispatches it
		return ctx.Err()
	}
	p.Log.WarnContext(ctx, "missed reversal found", "order", key.String())
	sum.Repaired++
	return nil
}
