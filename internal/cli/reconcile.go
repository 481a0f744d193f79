package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"handover/internal/app"
	"handover/internal/config"
	"handover/internal/order"
	"handover/internal/recovery"
	"handover/internal/recovery/missed"
	"handover/internal/telemetry"
)

// minimumAge is how long an order may have been in progress when an operator reconciles. The schedule waits longer.
const minimumAge = 10 * time.Second

type reconcileCommand struct {
	Since  string `help:"How far back to list sales, like 72h or 3d; with --money, refunds and disputes." placeholder:"DURATION"`
	Money  bool   `help:"Go through refunds and disputes only, as after a restored backup."`
	DryRun bool   `help:"Change nothing; count what would be repaired."`
	JSON   bool   `help:"Print JSON."`
}

// reconciliation is the command's answer: the sums, and the counts of each environment.
type reconciliation struct {
	Checked      int                      `json:"checked"`
	Repaired     int                      `json:"repaired"`
	Ignored      int                      `json:"ignored"`
	Left         int                      `json:"left"`
	DryRun       bool                     `json:"dry_run"`
	Environments map[string]missed.Result `json:"environments"`
	Orders       stuckOrders              `json:"orders"` // orders and events of the ledger
}

type stuckOrders struct {
	Checked  int `json:"checked"`
	Repaired int `json:"repaired"`
	Left     int `json:"left"`
	Marked   int `json:"marked"`
}

func (r *reconcileCommand) Run(c *console) error {
	since, err := parseSince(r.Since)
	if err != nil {
		return err
	}
	return c.connect(func(cn *connection) error {
		cfg, err := config.Load(cn.settings.ConfigPath, c.Getenv, app.Known())
		if err != nil {
			return err
		}
		runs, err := cn.dispatcher()
		if err != nil {
			return err
		}

		result := reconciliation{DryRun: r.DryRun, Environments: map[string]missed.Result{}}
		if !r.Money {
			if err := r.stuckOrders(cn, runs, cfg, &result); err != nil {
				return err
			}
		}
		if err := r.lists(cn, runs, cfg, since, &result); err != nil {
			return err
		}
		return r.report(c, result)
	})
}

// parseSince reads a duration or a number of days. Without one, a run begins at the high-water mark.
func parseSince(written string) (time.Duration, error) {
	if written == "" {
		return 0, nil
	}
	since, err := time.ParseDuration(written)
	if days, isDays := strings.CutSuffix(written, "d"); isDays {
		var n int
		if n, err = strconv.Atoi(days); err == nil {
			since = time.Duration(n) * 24 * time.Hour
		}
	}
	if err != nil || since <= 0 {
		return 0, fmt.Errorf("%w: --since takes a duration like 72h or 3d", errUsage)
	}
	return since, nil
}

// stuckOrders goes through the ledger.
func (r *reconcileCommand) stuckOrders(cn *connection, runs dispatcher, cfg config.Config, sum *reconciliation) error {
	stuck := recovery.Stuck{
		Ledger: cn.ledger, Runs: runs, Log: telemetry.Logger(io.Discard), Age: minimumAge,
		StuckAfter: cfg.Orders.StuckAfter, AttentionAfter: cfg.Orders.AttentionAfter, DryRun: r.DryRun, Heartbeat: func(int) {},
	}
	found, err := stuck.Run(cn.ctx)
	sum.Orders = stuckOrders{Checked: found.Checked, Repaired: found.Repaired, Left: found.Remaining, Marked: found.Marked}
	sum.Checked, sum.Repaired, sum.Left = sum.Checked+found.Checked, sum.Repaired+found.Repaired, sum.Left+found.Remaining
	return err
}

// lists goes through each provider's list of sales, and through that of refunds and disputes.
func (r *reconcileCommand) lists(cn *connection, runs dispatcher, cfg config.Config, since time.Duration, sum *reconciliation) error {
	providers, err := cn.providers(cfg)
	if err != nil {
		return err
	}
	sales := missed.Sales{
		Ledger: cn.ledger, Runs: runs, Catalogue: order.NewCatalogue(cfg.Products), Log: telemetry.Logger(io.Discard), Now: cn.now, Pause: pause,
	}
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		e := missed.Environment{Name: name, Mode: cfg.Environments[name].Mode, Provider: providers[name]}
		result, options := missed.Result{}, missed.Options{DryRun: r.DryRun}
		if r.Money {
			options.Since = since
		} else if result, err = sales.Run(cn.ctx, e, missed.Options{Since: since, DryRun: r.DryRun}); err != nil {
			return err
		}
		reversals, err := sales.Reversals(cn.ctx, e, options)
		if err != nil {
			return err
		}
		result.Reversals = &reversals
		sum.add(name, result, r.Money)
	}
	return nil
}

// add adds up an environment. The refunds and disputes that were known already count only where they were asked for.
func (sum *reconciliation) add(name string, r missed.Result, money bool) {
	sum.Checked, sum.Repaired, sum.Ignored, sum.Left = sum.Checked+r.Checked, sum.Repaired+r.Repaired, sum.Ignored+r.Ignored, sum.Left+r.Left
	if m := r.Reversals; m != nil {
		sum.Checked, sum.Repaired, sum.Left = sum.Checked+m.Repaired+m.Left, sum.Repaired+m.Repaired, sum.Left+m.Left
		if money {
			sum.Checked, sum.Ignored = sum.Checked+m.Ignored, sum.Ignored+m.Ignored
		}
	}
	sum.Environments[name] = r
}

// report prints the result, and fails when something is left or a list could not be read.
func (r *reconcileCommand) report(c *console, sum reconciliation) error {
	if r.JSON {
		if err := c.printJSON(sum); err != nil {
			return err
		}
	} else {
		for _, line := range sum.lines() {
			fmt.Fprintln(c.Out, line)
		}
	}

	unread := 0
	for _, result := range sum.Environments {
		if result.Problem != "" || result.Reversals != nil && result.Reversals.Problem != "" {
			unread++
		}
	}
	switch {
	case unread > 0:
		return fmt.Errorf("the lists of %d of %d environments could not be read to their end: run it again", unread, len(sum.Environments))
	case sum.Left > 0:
		return errors.New("some could not be delivered: the lines above say why")
	}
	return nil
}

// lines are the result as text.
func (sum reconciliation) lines() (lines []string) {
	repaired, started := "repaired", "were started or nudged"
	if sum.DryRun {
		repaired, started = "would be repaired", "would be started or nudged"
	}
	if o := sum.Orders; o.Checked > 0 {
		lines = append(lines, fmt.Sprintf("orders in the ledger: %d should be in progress, %d did not move and %s, %d left", o.Checked, o.Repaired, started, o.Left))
	}
	if o := sum.Orders; o.Marked > 0 {
		lines = append(lines, fmt.Sprintf("orders that make no progress: %d need attention from now on: starter list --attention", o.Marked))
	}
	for _, name := range slices.Sorted(maps.Keys(sum.Environments)) {
		is := sum.Environments[name]
		if !is.Since.IsZero() {
			lines = append(lines, salesLines(name, repaired, is)...)
		}
		lines = append(lines, reversalLines(name, repaired, *is.Reversals)...)
	}
	return lines
}

const minute = "2006-01-02 15:04 MST"

func reversalLines(name, repaired string, r missed.Reversals) []string {
	lines := []string{fmt.Sprintf("%s: %d checked, %d %s, %d ignored, %d left, of the refunds and disputes since %s",
		name, r.Checked, r.Repaired, repaired, r.Ignored, r.Left, r.Since.UTC().Format(minute))}
	if r.Problem != "" {
		lines = append(lines, "  "+problemSentence(r.Problem))
	}
	return append(lines, "  every refund and dispute is in the ledger until "+r.CompleteUntil.UTC().Format(minute))
}

func salesLines(name, repaired string, r missed.Result) []string {
	lines := []string{fmt.Sprintf("%s: %d checked, %d %s, %d ignored, %d left, of the sales since %s",
		name, r.Checked, r.Repaired, repaired, r.Ignored, r.Left, r.Since.UTC().Format(minute))}
	for _, reason := range slices.Sorted(maps.Keys(r.Reasons)) {
		lines = append(lines, fmt.Sprintf("  left: %d, %s", r.Reasons[reason], leftSentences[reason]))
	}
	if len(r.LeftSales) > 0 {
		lines = append(lines, "  at the provider they are: "+strings.Join(r.LeftSales, ", "))
	}
	if r.Problem != "" {
		lines = append(lines, "  "+problemSentence(r.Problem))
	}
	return append(lines, "  every sale is in the ledger until "+r.CompleteUntil.UTC().Format(minute))
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
