// Package dispatch is the outbox between the ledger and Temporal: it starts and signals the orders' workflows, and tries
// again what could not be dispatched at first. The ledger decides what has to happen, because Temporal forgets an ID.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"handover/internal/failpoint"
	"handover/internal/flow"
	"handover/internal/ledger"
	"handover/internal/order"
)

// Ledger is what the dispatcher needs of the ledger.
type Ledger interface {
	Installation(ctx context.Context) (ledger.Installation, error)
	MarkDispatched(ctx context.Context, key order.Key, event string) error
	Undispatched(ctx context.Context, grace time.Duration, skip []string, limit int) ([]ledger.Undispatched, error)
	Waiting(ctx context.Context, grace time.Duration, limit int) ([]order.Request, error)
	MarkSignalled(ctx context.Context, key order.Key, id string) error
	Unattached(ctx context.Context, grace time.Duration, limit int) ([]ledger.Unattached, error)
	Attach(ctx context.Context, key order.Key, event string, created time.Time) (joined bool, err error)
	Discard(ctx context.Context, environment, event string) error
}

// Dispatcher starts and signals workflows. It is safe for concurrent use, and any number may run side by side.
type Dispatcher struct {
	temporal client.Client
	ledger   Ledger
	queue    atomic.Pointer[string] // nil until it is known
	log      *slog.Logger
	// attributes says that the namespace has our search attributes. Starting with ones it does not have fails.
	attributes atomic.Bool
	find       Finder
	later      backoff                  // what could not be dispatched
	askAgain   map[string]time.Duration // how long an event has waited when the provider is asked again
}

// New returns a dispatcher. It starts nothing before UseQueue.
func New(temporal client.Client, l Ledger, log *slog.Logger) *Dispatcher {
	return &Dispatcher{temporal: temporal, ledger: l, log: log, askAgain: map[string]time.Duration{}}
}

// UseQueue says on which task queue orders run.
func (d *Dispatcher) UseQueue(queue string) { d.queue.Store(&queue) }

// errNoQueue means that the ledger has not said yet on which task queue orders run. What is stored goes there later.
var errNoQueue = errors.New("the task queue is not known yet")

// UseAttributes says whether the namespace has our search attributes.
func (d *Dispatcher) UseAttributes(have bool) { d.attributes.Store(have) }

// Dispatch carries out what the ledger decided for an event. An error means that it has to be tried again later.
func (d *Dispatcher) Dispatch(ctx context.Context, key order.Key, event string, next ledger.Next) error {
	var err error
	switch next {
	case ledger.NextNothing:
		return nil
	case ledger.NextStart, ledger.NextStartOrCheck:
		var already bool
		already, err = d.start(ctx, key, event)
		if err == nil && !already {
			failpoint.Hit("dispatch.started")
			return nil // the mark rides on the payment's commit
		}
		if err == nil && next == ledger.NextStart {
			return nil // its first copy is in progress
		}
		if err == nil {
			err = d.check(ctx, key, event)
		}
	case ledger.NextCheck:
		err = d.check(ctx, key, event)
	case ledger.NextReversal:
		err = d.review(ctx, key, event)
	case ledger.NextEnsure:
		err = d.Ensure(ctx, key)
	}
	if err != nil {
		return fmt.Errorf("dispatch %s: %w", key, err)
	}
	failpoint.Hit("dispatch.started")
	return d.ledger.MarkDispatched(ctx, key, event)
}

// start begins the workflow of a session that was never dispatched. It says whether there was one already.
func (d *Dispatcher) start(ctx context.Context, key order.Key, event string) (already bool, err error) {
	in := flow.Input{Key: key, Event: event}
	err = d.withAttributes(in, func(o client.StartWorkflowOptions, in flow.Input) error {
		o.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
		o.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL
		o.WorkflowExecutionErrorWhenAlreadyStarted = true
		_, err := d.temporal.ExecuteWorkflow(ctx, o, flow.DeliverName, in)
		return err
	})
	var exists *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &exists) {
		return true, nil
	}
	return false, err
}

// Replay makes an order's run, or a new one if it has closed, check the payment again.
func (d *Dispatcher) Replay(ctx context.Context, key order.Key) error {
	if err := d.check(ctx, key, ""); err != nil {
		return fmt.Errorf("signal %s: %w", key, err)
	}
	return nil
}

// check signals that there may be something new about the payment, to a new run if the last has closed.
func (d *Dispatcher) check(ctx context.Context, key order.Key, event string) error {
	return d.signal(ctx, key, flow.SignalPaymentEvent, map[string]string{"event": event})
}

// Review makes an order's run, or a new one if it has closed, re-read its refunds and disputes.
func (d *Dispatcher) Review(ctx context.Context, key order.Key) error {
	if err := d.review(ctx, key, ""); err != nil {
		return fmt.Errorf("signal %s: %w", key, err)
	}
	return nil
}

func (d *Dispatcher) review(ctx context.Context, key order.Key, event string) error {
	return d.signal(ctx, key, flow.SignalPaymentEvent, map[string]string{"event": event, "about": flow.AboutReversal})
}

// Ask signals a stored request under the name of its kind. The signal always arrives: a workflow that has closed gets a
// new run, which reads the ledger and does only what is missing.
func (d *Dispatcher) Ask(ctx context.Context, r order.Request) error {
	err := d.signal(ctx, r.Key, r.Kind, flow.Request{Reason: r.Why, RequestID: r.ID})
	if err != nil {
		return fmt.Errorf("signal %s: %w", r.Key, err)
	}
	return d.ledger.MarkSignalled(ctx, r.Key, r.ID)
}

func (d *Dispatcher) signal(ctx context.Context, key order.Key, name string, payload any) error {
	in := flow.Input{Key: key, Known: true}
	return d.withAttributes(in, func(o client.StartWorkflowOptions, in flow.Input) error {
		_, err := d.temporal.SignalWithStartWorkflow(ctx, o.ID, name, payload, o, flow.DeliverName, in)
		return err
	})
}

// Running says whether the order has an open run.
func (d *Dispatcher) Running(ctx context.Context, key order.Key) (bool, error) {
	described, err := d.temporal.DescribeWorkflow(ctx, key.WorkflowID(), "")
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return described.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil
}

// Ensure makes sure that a run is open on unfinished work. One that is open is left alone.
func (d *Dispatcher) Ensure(ctx context.Context, key order.Key) error {
	in := flow.Input{Key: key, Known: true}
	return d.withAttributes(in, func(o client.StartWorkflowOptions, in flow.Input) error {
		_, err := d.temporal.ExecuteWorkflow(ctx, o, flow.DeliverName, in)
		return err
	})
}

// withAttributes starts with search attributes where the namespace has them, and without where it turns out not to.
func (d *Dispatcher) withAttributes(in flow.Input, start func(client.StartWorkflowOptions, flow.Input) error) error {
	if d.queue.Load() == nil {
		return errNoQueue
	}
	if d.attributes.Load() {
		in.Attributes = true
		o := d.options(in)
		o.TypedSearchAttributes = temporal.NewSearchAttributes(
			flow.AttributeEnvironment.ValueSet(in.Environment), flow.AttributeState.ValueSet(flow.StateAutomatic))
		err := start(o, in)
		if !refusesAttributes(err) {
			return err
		}
		d.attributes.Store(false)
		d.log.Warn("search attributes missing in the namespace")
		in.Attributes = false
	}
	return start(d.options(in), in)
}

// options let a closed ID run again and an open one be: only start is stricter.
func (d *Dispatcher) options(in flow.Input) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID:                       in.Key.WorkflowID(),
		TaskQueue:                *d.queue.Load(),
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            in.Summary(),
	}
}

func refusesAttributes(err error) bool {
	var invalid *serviceerror.InvalidArgument
	return errors.As(err, &invalid) && strings.Contains(strings.ToLower(invalid.Message), "search attribute")
}
