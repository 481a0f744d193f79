package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"handover/internal/telemetry"
	"handover/internal/temporalclient"
)

// The bare workflow: what every design pays that has three steps in Temporal and nothing else.
const (
	bareQueue    = "bench-bare"
	bareWorkflow = "Bare"
)

// bare is the process beside which an order is measured: client and worker of the bare workflow, with the same options
// as the starter's and the worker's.
type bare struct {
	client client.Client
	done   chan finish
}

// bareBlock asks for a block.
type bareBlock struct {
	IDs      []string `json:"ids"`
	InFlight int      `json:"in_flight"`
}

// bareAnswer is a block, or why there is none.
type bareAnswer struct {
	block
	Error string `json:"error,omitempty"`
}

// serveBare works on the bare queue and runs the blocks that it is asked for, one JSON line each, until its input ends.
func serveBare(ctx context.Context, in io.Reader, out io.Writer) error {
	log := telemetry.Logger(io.Discard)
	identity := fmt.Sprintf("bare@%d", os.Getpid())
	c, err := connect(log, identity)
	if err != nil {
		return err
	}
	defer c.Close()
	b := &bare{client: c, done: make(chan finish, 100_000)}
	w := worker.New(c, bareQueue, temporalclient.WorkerOptions(identity))
	w.RegisterWorkflowWithOptions(b.workflow, workflow.RegisterOptions{Name: bareWorkflow})
	for name, step := range map[string]any{"First": b.step, "Second": b.step, "Third": b.last} {
		w.RegisterActivityWithOptions(step, activity.RegisterOptions{Name: name})
	}
	if err := w.Start(); err != nil {
		return err
	}
	defer w.Stop()
	answers := json.NewEncoder(out)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var ask bareBlock
		if err := json.Unmarshal(lines.Bytes(), &ask); err != nil {
			return err
		}
		answer := bareAnswer{}
		if answer.block, err = b.block(ctx, ask); err != nil {
			answer.Error = err.Error()
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

// connect makes a client as our processes do, metrics included.
func connect(log *slog.Logger, identity string) (client.Client, error) {
	c, _, err := temporalclient.Connect(telemetry.TemporalHandler(telemetry.NewRegistry()), log, identity)
	return c, err
}

func (b *bare) block(ctx context.Context, ask bareBlock) (block, error) {
	for len(b.done) > 0 {
		<-b.done // of starts that were no block's
	}
	before := ownCPU()
	result, err := drive(ctx, ask.IDs, ask.InFlight, b.done,
		func(ctx context.Context, id string) error { return startBare(ctx, b.client, id) },
		func(ctx context.Context, id string) error { return b.client.GetWorkflow(ctx, id, "").Get(ctx, nil) })
	result.CPU = ownCPU() - before
	return result, err
}

func startBare(ctx context.Context, c client.Client, id string) error {
	_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: bareQueue}, bareWorkflow)
	return err
}

func (b *bare) workflow(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 20 * time.Second})
	for _, name := range []string{"First", "Second", "Third"} {
		if err := workflow.ExecuteActivity(ctx, name).Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

func (b *bare) step(context.Context) error { return nil }

func (b *bare) last(ctx context.Context) error {
	select {
	case b.done <- finish{id: activity.GetInfo(ctx).WorkflowExecution.ID, at: time.Now()}:
	default: // nobody has asked for that many: they are starts that no block waits for
	}
	return nil
}

// ownCPU is this process's user and system time.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
