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
	"handover/internal/dispatch"
	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/recovery"
	"handover/internal/recovery/missed"
	"handover/internal/temporalclient"
)

type reconcileCommand struct {
	Since  string `help:"How far back to ask the payment providers, for example 72h, also to before Handover was there: look first with --dry-run. Without it: from when the sales are not yet known to be complete." placeholder:"DURATION"`
	DryRun bool   `help:"Change nothing; count what would be repaired."`
	JSON   bool   `help:"Print JSON."`
}

// reconciledJSON is the command's answer: the sums, and each environment's own counts.
type reconciledJSON struct {
	Checked      int                      `json:"checked"`
	Repaired     int                      `json:"repaired"`
	Ignored      int                      `json:"ignored"`
	Left         int                      `json:"left"`
	DryRun       bool                     `json:"dry_run"`
	Environments map[string]missed.Result `json:"environments"`
	Orders       ownJSON                  `json:"orders"` // our own orders and events that nobody was working on
}

type ownJSON struct {
	Checked  int `json:"checked"`
	Repaired int `json:"repaired"`
	Left     int `json:"left"`
}

func (r *reconcileCommand) Run(c *console) error {
	since, err := reach(r.Since)
	if err != nil {
		return err
	}
	p, err := app.Open(c.ctx, app.Options{Name: "starter", DefaultAdmin: defaultAdmin, Getenv: c.getenv, Log: io.Discard})
	if err != nil {
		return err
	}
	defer p.Close()
	if err := ledger.Migrated(c.ctx, p.Pool); err != nil {
		return fmt.Errorf("the database does not answer, or has not been migrated: run starter migrate (%w)", err)
	}
	runs := dispatch.New(p.Temporal, p.Ledger, p.Settings.TaskQueue, p.Log)
	runs.UseAttributes(temporalclient.HasAttributes(c.ctx, p.Temporal, p.Namespace))
	answer := reconciledJSON{DryRun: r.DryRun, Environments: map[string]missed.Result{}}
	if err := r.ours(c, p, runs, &answer); err != nil {
		return err
	}
	if err := r.theirs(c, p, runs, since, &answer); err != nil {
		return err
	}
	return r.print(c, answer)
}

// reach reads how far back to go: a duration, or a number of days; nothing for what is not yet known to be complete.
func reach(written string) (time.Duration, error) {
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
		return 0, fmt.Errorf("%w: --since takes a time like 72h or 3d", errUsage)
	}
	return since, nil
}

// grace is how long an order may have been under way when an operator asks. The schedule waits longer.
const grace = 10 * time.Second

// ours goes through our own orders.
func (r *reconcileCommand) ours(c *console, p *app.Process, runs *dispatch.Dispatcher, a *reconciledJSON) error {
	own, err := recovery.Stuck{Ledger: p.Ledger, Runs: runs, Log: p.Log, Age: grace, DryRun: r.DryRun, Heartbeat: func(int) {}}.Run(c.ctx)
	a.Orders = ownJSON{Checked: own.Checked, Repaired: own.Repaired, Left: own.Remaining}
	a.Checked, a.Repaired, a.Left = a.Checked+own.Checked, a.Repaired+own.Repaired, a.Left+own.Remaining
	return err
}

// theirs goes through the providers' lists.
func (r *reconcileCommand) theirs(c *console, p *app.Process, runs *dispatch.Dispatcher, since time.Duration, a *reconciledJSON) error {
	opened, err := p.Providers()
	if err != nil {
		return err
	}
	pass := missed.Sales{Ledger: p.Ledger, Runs: runs, Catalogue: order.NewCatalogue(p.Config.Products), Log: p.Log, Now: time.Now, Pause: pause}
	for _, name := range slices.Sorted(maps.Keys(opened)) {
		e := missed.Environment{Name: name, Mode: p.Config.Environments[name].Mode, Provider: opened[name]}
		result, err := pass.Run(c.ctx, e, missed.Options{Since: since, DryRun: r.DryRun})
		if err != nil {
			return err
		}
		a.add(name, result)
	}
	return nil
}

func (a *reconciledJSON) add(name string, r missed.Result) {
	a.Checked, a.Repaired, a.Ignored, a.Left = a.Checked+r.Checked, a.Repaired+r.Repaired, a.Ignored+r.Ignored, a.Left+r.Left
	a.Environments[name] = r
}

func (r *reconcileCommand) print(c *console, a reconciledJSON) error {
	if r.JSON {
		if err := printJSON(c.out, a); err != nil {
			return err
		}
	}
	if !r.JSON && a.Orders.Checked > 0 {
		started := "are started"
		if r.DryRun {
			started = "would be started"
		}
		fmt.Fprintf(c.out, "our own orders: %d should be under way, %d had nobody working on them and %s, %d left\n", a.Orders.Checked, a.Orders.Repaired, started, a.Orders.Left)
	}
	unread := 0
	for _, name := range slices.Sorted(maps.Keys(a.Environments)) {
		result := a.Environments[name]
		if result.Problem != "" {
			unread++
		}
		if !r.JSON {
			for _, line := range reconciledLines(name, result, r.DryRun) {
				fmt.Fprintln(c.out, line)
			}
		}
	}
	switch {
	case unread > 0:
		return fmt.Errorf("the sales of %d of %d environments could not be read to their end: run it again", unread, len(a.Environments))
	case a.Left > 0:
		return errors.New("some could not be dealt with: the lines above say why")
	}
	return nil
}

func reconciledLines(name string, r missed.Result, dry bool) []string {
	repaired := "repaired"
	if dry {
		repaired = "would be repaired"
	}
	lines := []string{fmt.Sprintf("%s: %d checked, %d %s, %d ignored, %d left, of the sales since %s",
		name, r.Checked, r.Repaired, repaired, r.Ignored, r.Left, r.Since.UTC().Format("2006-01-02 15:04 MST"))}
	for _, reason := range slices.Sorted(maps.Keys(r.Reasons)) {
		lines = append(lines, fmt.Sprintf("  left: %d, %s", r.Reasons[reason], leftSentences[reason]))
	}
	if len(r.LeftSales) > 0 {
		lines = append(lines, "  at the provider they are: "+strings.Join(r.LeftSales, ", "))
	}
	if r.Problem != "" {
		lines = append(lines, "  "+problemSentence(r.Problem))
	}
	return append(lines, "  every sale is in the ledger until "+r.CompleteUntil.UTC().Format("2006-01-02 15:04 MST"))
}

var leftSentences = map[string]string{
	missed.LeftNoSession:  "because the provider's list does not name their checkout: send checkout.completed again from its dashboard",
	missed.LeftUnread:     "because the provider did not show their session: run it again",
	missed.LeftNotStarted: "because Temporal did not answer: they are written down, and are started when it is back",
}

func problemSentence(c order.Class) string {
	switch c {
	case order.ClassMisconfigured:
		return "the provider refuses our key: mend the environment's api_key"
	case order.ClassRateLimited:
		return "the provider asks to wait for longer than a minute"
	case order.ClassPermanent:
		return "the provider refuses to list its sessions"
	}
	return "the provider does not answer"
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
