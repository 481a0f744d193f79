package temporalclient

import (
	"context"
	"errors"
	"fmt"
	"time"

	"handover/internal/flow"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// reconcileEvery is how often the ledger is gone through for work that nobody is doing.
const reconcileEvery = 10 * time.Minute

// ScheduleID names the schedule of the workers on a task queue.
func ScheduleID(queue string) string { return queue + "-reconcile" }

// EnsureSchedule makes sure that the reconciliation is scheduled as this version wants it. Any number of workers may ask
// for it; that an operator has paused it stays so. It says whose the task queue is.
func EnsureSchedule(ctx context.Context, c client.Client, queue, installation string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	spec := client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: reconcileEvery}}}
	action := &client.ScheduleWorkflowAction{
		ID: ScheduleID(queue), Workflow: flow.ReconcileName, TaskQueue: queue, WorkflowRunTimeout: reconcileEvery,
		StaticSummary: "Start what has no run",
	}
	_, err := c.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: ScheduleID(queue), Spec: spec, Action: action, Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: reconcileEvery,
		Memo: map[string]any{owner: installation},
	})
	if errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		err = c.ScheduleClient().GetHandle(ctx, ScheduleID(queue)).Update(ctx, client.ScheduleUpdateOptions{
			DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
				s := in.Description.Schedule
				s.Spec, s.Action = &spec, action
				return &client.ScheduleUpdate{Schedule: &s}, nil
			},
		})
	}
	if err != nil {
		return fmt.Errorf("schedule the reconciliation: %w", err)
	}
	return nil
}
