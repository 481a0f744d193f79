package cli

import (
	"context"
	"io"
	"time"

	"handover/internal/dispatch"
	"handover/internal/ledger"
	"handover/internal/telemetry"
	"handover/internal/temporalclient"
)

// withDispatcher connects to Temporal for one command and calls f, which has ten seconds.
func (c *console) withDispatcher(l *ledger.Ledger, f func(context.Context, *dispatch.Dispatcher) error) error {
	log := telemetry.Logger(io.Discard)
	temporal, options, err := temporalclient.Connect(nil, log, "starter")
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
	d.UseAttributes(temporalclient.HasAttributes(ctx, temporal, options.Namespace))
	return temporalclient.Explain(f(ctx, d))
}
