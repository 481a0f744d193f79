package main

import (
	"context"
	"io"
	"time"

	"handover/internal/dispatch"
	"handover/internal/engine"
	"handover/internal/ledger"
	"handover/internal/telemetry"
)

// withDispatcher connects to Temporal for one command and calls f, which has ten seconds.
func (c *console) withDispatcher(l *ledger.Ledger, f func(context.Context, *dispatch.Dispatcher) error) error {
	log := telemetry.Logger(io.Discard)
	temporal, options, err := engine.Connect(nil, log, "starter")
	if err != nil {
		return err
	}
	defer temporal.Close()
	queue, _ := c.getenv("TASK_QUEUE")
	if queue == "" {
		queue = "handover"
	}
	ctx, cancel := context.WithTimeout(c.ctx, 10*time.Second)
	defer cancel()
	d := dispatch.New(temporal, l, queue, log)
	d.UseAttributes(engine.HasAttributes(ctx, temporal, options.Namespace))
	return engine.Explain(f(ctx, d))
}
