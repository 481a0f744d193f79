// Package missed finds the sales whose webhook never arrived: it lists the finished sessions of each payment provider and
// delivers those that are unknown to the ledger.
package missed

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

// The reasons for which a sale is left.
const (
	LeftNoSession  = "the_provider_does_not_name_its_session"
	LeftUnread     = "its_session_could_not_be_read"
	LeftNotStarted = "its_workflow_could_not_be_started"
)

// Ledger is what a run needs of the ledger.
type Ledger interface {
	SyncWindow(ctx context.Context, environment string) (ledger.SyncWindow, error)
	AdvanceHighWater(ctx context.Context, environment string, until time.Time) error
	AdvanceReversals(ctx context.Context, environment string, until time.Time) error
	UnreadReversals(ctx context.Context, environment string, list []order.Reversed) ([]order.Key, error)
	ReversalMissed(ctx context.Context, key order.Key) error
	UnknownSales(ctx context.Context, environment string, sales []order.Sale) ([]order.Sale, error)
	ImportSale(ctx context.Context, key order.Key, found ledger.Found) error
	RecordPayment(ctx context.Context, p order.Assessment) (order.Snapshot, error)
}

// Runs starts the orders' workflows.
type Runs interface {
	Ensure(ctx context.Context, key order.Key) error
	// Review makes an order's run, or a new one, re-read its refunds and disputes.
	Review(ctx context.Context, key order.Key) error
}

// Environment is one payment account.
type Environment struct {
	Name     string
	Mode     order.Mode
	Provider payment.Provider
}

// Sales goes through the providers' lists.
type Sales struct {
	Ledger    Ledger
	Runs      Runs
	Catalogue *order.Catalogue
	Log       *slog.Logger
	Now       func() time.Time
	// Pause waits before a call is made again; it returns early with the context's error.
	Pause func(ctx context.Context, d time.Duration) error
}

// Options bound a run.
type Options struct {
	// Since is how far back to go, also to before Handover served the environment; 0 for the high-water mark.
	Since     time.Duration
	DryRun    bool   // change nothing, and count what would be
	Heartbeat func() // called during the run; may be nil
}

// Result counts what one run over an environment found.
type Result struct {
	Checked  int            `json:"checked"`  // finished sessions in the provider's list
	Repaired int            `json:"repaired"` // missed sales that are delivered now
	Ignored  int            `json:"ignored"`  // unknown to the ledger, and not ours, not paid, or from before
	Left     int            `json:"left"`     // missed sales that could not be delivered
	Reasons  map[string]int `json:"reasons,omitempty"`
	// LeftSales names some of those that were left, by their session or else by their payment.
	LeftSales []string  `json:"left_sales,omitempty"`
	Since     time.Time `json:"since,omitzero"`
	// CompleteUntil is the high-water mark: every sale up to then is in the ledger.
	CompleteUntil time.Time `json:"complete_until,omitzero"`
	// Problem says why the list could not be read to its end: misconfigured, rate_limited, retry or permanent.
	Problem order.Class `json:"problem,omitempty"`
	// Reversals are the refunds and disputes, where they were gone through, too.
	Reversals *Reversals `json:"reversals,omitempty"`
}

// Run goes through the sales of one environment. An error is the ledger's: the provider's failures are in the result.
func (r *Sales) Run(ctx context.Context, e Environment, o Options) (Result, error) {
	began := r.Now()
	window, err := r.Ledger.SyncWindow(ctx, e.Name)
	if err != nil {
		return Result{}, err
	}
	if window.Until.IsZero() {
		window = ledger.SyncWindow{From: began, Until: began}
	}
	since, from := window.Until, window.From.Truncate(time.Second) // providers report times in whole seconds
	if o.Since > 0 {
		since = began.Add(-o.Since)
		from = since
	}
	p := &run{Sales: r, e: e, o: o, from: from, result: Result{Since: since, CompleteUntil: window.Until, Reasons: map[string]int{}}}
	if err := p.list(ctx, since); err != nil {
		return p.result, err
	}
	if connected := !since.After(window.Until); connected && p.result.Problem == "" && p.again == 0 && !o.DryRun {
		if err := r.Ledger.AdvanceHighWater(ctx, e.Name, began); err != nil {
			return p.result, err
		}
		p.result.CompleteUntil = began
	}
	return p.result, nil
}

// run is one run over one environment.
type run struct {
	*Sales
	e      Environment
	o      Options
	from   time.Time // an earlier session was somebody else's to deliver
	result Result
	again  int // sales that another run may deliver
}

func (p *run) list(ctx context.Context, since time.Time) error {
	for cursor := ""; ; {
		var page []order.Sale
		var next string
		class := p.withRetries(ctx, func(ctx context.Context) (err error) {
			page, next, err = p.e.Provider.PaidSessions(ctx, since, cursor)
			return err
		})
		if class != "" {
			p.result.Problem = class
			return ctx.Err()
		}
		p.result.Checked += len(page)
		unknown, err := p.Ledger.UnknownSales(ctx, p.e.Name, page)
		if err != nil {
			return err
		}
		for _, sale := range unknown {
			if err := p.process(ctx, sale); err != nil {
				return err
			}
			p.heartbeat()
		}
		p.heartbeat()
		if next == "" || next == cursor {
			return nil
		}
		cursor = next
	}
}

func (p *run) heartbeat() {
	if p.o.Heartbeat != nil {
		p.o.Heartbeat()
	}
}

const mostNamed = 20

func (p *run) left(sale order.Sale, reason string, retryable bool) {
	p.result.Left++
	p.result.Reasons[reason]++
	if len(p.result.LeftSales) < mostNamed {
		p.result.LeftSales = append(p.result.LeftSales, cmp.Or(sale.Session, sale.Ref))
	}
	if retryable {
		p.again++
	}
}
