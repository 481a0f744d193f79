package temporalclient

import (
	"time"

	"go.temporal.io/sdk/worker"
)

// WorkerOptions size a worker: pollers follow the load, an attempt that is under way at a stop may finish, and a worker
// that died is not waited for longer than a second.
func WorkerOptions(identity string) worker.Options {
	autoscale := worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{
		InitialNumberOfPollers: 5, MinimumNumberOfPollers: 1, MaximumNumberOfPollers: 20})
	return worker.Options{
		Identity:                           identity,
		WorkerStopTimeout:                  20 * time.Second,
		StickyScheduleToStartTimeout:       time.Second,
		MaxConcurrentActivityExecutionSize: 100,
		WorkflowTaskPollerBehavior:         autoscale,
		ActivityTaskPollerBehavior:         autoscale,
	}
}
