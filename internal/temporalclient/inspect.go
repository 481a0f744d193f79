package temporalclient

import (
	"context"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc/codes"
)

// pollsWithin is how long ago a poller was seen last that still counts: a poll is held for a minute at most.
const pollsWithin = 2 * time.Minute

// EmailQueue is the task queue of the emails, beside the one of everything else.
func EmailQueue(queue string) string { return queue + "-email" }

// Retention is how long the namespace keeps a closed workflow. It is unknown, and 0, where we may not see the namespace.
func Retention(ctx context.Context, c client.Client, namespace string) (time.Duration, error) {
	described, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: named(namespace)})
	if err != nil && serviceerror.ToStatus(err).Code() == codes.PermissionDenied {
		return 0, nil
	}
	return described.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(), Explain(err)
}

// Polled says whether any worker has polled the queue lately, for each of the kinds of tasks.
func Polled(ctx context.Context, c client.Client, queue string, kinds ...enumspb.TaskQueueType) (bool, error) {
	for _, kind := range kinds {
		described, err := c.DescribeTaskQueue(ctx, queue, kind)
		if err != nil {
			return false, Explain(err)
		}
		found := false
		for _, p := range described.GetPollers() {
			found = found || time.Since(p.GetLastAccessTime().AsTime()) < pollsWithin
		}
		if !found {
			return false, nil
		}
	}
	return true, nil
}

// ScheduleState is how the schedule of the reconciliation is.
type ScheduleState string

// The states of the schedule.
const (
	ScheduleRunning ScheduleState = "running"
	SchedulePaused  ScheduleState = "paused"
	ScheduleMissing ScheduleState = "missing"
)

// ReadSchedule says how the schedule of the workers on a task queue is.
func ReadSchedule(ctx context.Context, c client.Client, queue string) (ScheduleState, error) {
	described, err := c.ScheduleClient().GetHandle(ctx, ScheduleID(queue)).Describe(ctx)
	var missing *serviceerror.NotFound
	switch {
	case errors.As(err, &missing):
		return ScheduleMissing, nil
	case err != nil:
		return "", Explain(err)
	case described.Schedule.State != nil && described.Schedule.State.Paused:
		return SchedulePaused, nil
	}
	return ScheduleRunning, nil
}
