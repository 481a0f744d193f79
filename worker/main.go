// Command worker runs the workflows and their activities. Run as many as needed.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"golang.org/x/sync/errgroup"

	"handover/activities"
	accessregistry "handover/internal/access/registry"
	"handover/internal/app"
	"handover/internal/config"
	"handover/internal/dispatch"
	emailregistry "handover/internal/email/registry"
	"handover/internal/flow"
	"handover/internal/ledger"
	"handover/internal/link"
	"handover/internal/order"
	"handover/internal/telemetry"
	"handover/internal/temporalclient"
	"handover/workflows"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	p, err := app.Open(ctx, app.Options{Name: app.Worker, Getenv: os.LookupEnv, Log: os.Stderr})
	if err != nil {
		return err
	}
	defer p.Close()
	runs := dispatch.New(p.Temporal, p.Ledger, p.Log)
	steps, err := newActivities(p, runs)
	if err != nil {
		return err
	}
	var serving atomic.Pointer[string] // the task queue, once it is settled
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.ServeAdmin(ctx, append(p.Checks(), pollers(p, &serving))) })
	group.Go(func() error {
		if err := p.Migrate(ctx); err != nil {
			return notCancelled(ctx, err)
		}
		if err := p.Patiently(ctx, p.ServeEnvironments); err != nil {
			return notCancelled(ctx, err)
		}
		return work(ctx, p, runs, steps, &serving)
	})
	return group.Wait()
}

// work polls until the context ends. Temporal may be away: polling begins when it is there.
func work(ctx context.Context, p *app.Process, runs *dispatch.Dispatcher, steps *activities.Activities, serving *atomic.Pointer[string]) error {
	if err := awaitTemporal(ctx, p); err != nil {
		return notCancelled(ctx, err)
	}
	var installation ledger.Installation
	err := p.Patiently(ctx, func(ctx context.Context) (err error) {
		installation, err = p.SettleTaskQueue(ctx)
		return err
	})
	if err != nil {
		return notCancelled(ctx, err)
	}
	queue := installation.TaskQueue
	runs.UseQueue(queue)
	serving.Store(&queue)
	runs.UseAttributes(temporalclient.EnsureAttributes(ctx, p.Temporal, p.Namespace))
	worker.SetStickyWorkflowCacheSize(cachedOrders)
	orders := worker.New(p.Temporal, queue, temporalclient.WorkerOptions(p.Identity))
	flows := workflows.New(workflowConfig(p, queue))
	orders.RegisterWorkflowWithOptions(flows.Deliver, workflow.RegisterOptions{Name: flow.DeliverName})
	orders.RegisterWorkflowWithOptions(flows.Reconcile, workflow.RegisterOptions{Name: flow.ReconcileName})
	orders.RegisterActivity(steps)
	emails := worker.New(p.Temporal, temporalclient.EmailQueue(queue), emailOptions(p))
	emails.RegisterActivityWithOptions(steps.SendAccessEmail, activity.RegisterOptions{Name: "SendAccessEmail"})
	if err := orders.Start(); err != nil {
		return fmt.Errorf("start polling: %w", err)
	}
	if err := emails.Start(); err != nil {
		orders.Stop()
		return fmt.Errorf("start polling: %w", err)
	}
	if err := temporalclient.EnsureSchedule(ctx, p.Temporal, queue, installation.ID); err != nil {
		p.Log.Warn("the reconciliation is not scheduled: orders whose workflow is lost wait for their next event", "error", err)
	}
	p.Log.Info("polling", "task_queue", queue, "namespace", p.Namespace)
	<-ctx.Done()
	// Both at once: a queue that is still polled would take work that the process has no time for.
	var stopping sync.WaitGroup
	stopping.Go(orders.Stop)
	stopping.Go(emails.Stop)
	stopping.Wait()
	return nil
}

// cachedOrders bounds the memory: an open order costs 55 kB while it is cached (docs/cost.md). The ones that only listen
// make room first; one that is needed again is read back from its history.
const cachedOrders = 600

func awaitTemporal(ctx context.Context, p *app.Process) error {
	for said := false; ; said = true {
		asked, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := temporalclient.Healthy(asked, p.Temporal, p.Namespace)
		cancel()
		if err == nil || errors.Is(err, temporalclient.ErrNoNamespace) {
			return err
		}
		if !said {
			p.Log.Warn("waiting for Temporal", "error", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func notCancelled(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// emailOptions keep the email provider's rate limit over all workers: Temporal hands out no more tasks than that.
func emailOptions(p *app.Process) worker.Options {
	o := temporalclient.WorkerOptions(p.Identity)
	o.DisableWorkflowWorker = true
	o.TaskQueueActivitiesPerSecond = p.Config.Email.RatePerSecond
	return o
}

// errNoPollers is what readiness says of a worker that does not poll.
const errNoPollers = telemetry.Word("no_pollers")

// pollers says whether this very process is seen polling: a process can run and serve nothing.
func pollers(p *app.Process, serving *atomic.Pointer[string]) telemetry.Check {
	return telemetry.Check{Name: "pollers", Run: func(ctx context.Context) error {
		if serving.Load() == nil {
			return errNoPollers
		}
		queue := *serving.Load()
		polled, err := temporalclient.Polled(ctx, p.Temporal, queue, p.Identity, enumspb.TASK_QUEUE_TYPE_WORKFLOW, enumspb.TASK_QUEUE_TYPE_ACTIVITY)
		if err == nil && polled {
			polled, err = temporalclient.Polled(ctx, p.Temporal, temporalclient.EmailQueue(queue), p.Identity, enumspb.TASK_QUEUE_TYPE_ACTIVITY)
		}
		if err == nil && !polled {
			return errNoPollers
		}
		return err
	}}
}

func newActivities(p *app.Process, runs *dispatch.Dispatcher) (*activities.Activities, error) {
	opened, err := app.Providers(p.Config)
	if err != nil {
		return nil, err
	}
	environments := map[string]activities.Environment{}
	for name, e := range p.Config.Environments {
		environments[name] = activities.Environment{Mode: e.Mode, Provider: opened[name]}
	}
	sender, err := emailregistry.Open(p.Config.Email, p.Config.Steps.Email)
	if err != nil {
		return nil, err
	}
	links, err := link.New(p.Config.PublicURL, config.Reveal(p.Config.LinkSecrets))
	if err != nil {
		return nil, err
	}
	steps := p.Config.Steps
	return activities.New(activities.Deps{
		Ledger: p.Ledger, Environments: environments, Catalogue: order.NewCatalogue(p.Config.Products), Kinds: accessregistry.Kinds().Local(),
		Sender: sender, Links: links, Runs: runs, Owner: p.Owner(sender), Outcomes: p.Counters, Log: p.Log,
	}, activities.Config{
		From: p.Config.Email.From, ReplyTo: p.Config.Email.ReplyTo, ShopName: p.ShopName(),
		EmailLease: steps.Email.StartToClose(), EmailWindow: p.Config.Email.SendWindow(), EmailAttempts: steps.Email.Attempts,
		PaymentWait: steps.Payment.Wait, EmailWait: steps.Email.Wait,
		StuckAfter: p.Config.Orders.StuckAfter, AttentionAfter: p.Config.Orders.AttentionAfter, UnreachedAfter: p.Config.Orders.UnreachedAfter,
		OpenFor: p.Config.Orders.OpenFor, AwaitPaymentFor: p.Config.Orders.AwaitPaymentFor,
		PaymentGiveUp: steps.Payment.GiveUpAfter, EmailGiveUp: steps.Email.GiveUpAfter,
	}), nil
}

func workflowConfig(p *app.Process, queue string) workflows.Config {
	steps := p.Config.Steps
	return workflows.Config{
		Payment: policy(steps.Payment), Access: policy(steps.Access), Email: policy(steps.Email), Revoke: policy(steps.Revoke),
		EmailQueue: temporalclient.EmailQueue(queue),
	}
}

func policy(s config.Step) workflows.Policy {
	return workflows.Policy{Attempts: s.Attempts, FirstWait: s.FirstWait, Factor: s.Factor, LongestWait: s.LongestWait,
		GiveUpAfter: s.GiveUpAfter, StartToClose: s.StartToClose()}
}
