package temporalclient

import (
	"context"
	"errors"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc/codes"
)

// pollsWithin is the age of a poll that still counts: a poll is held for a minute at most.
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

// Polled says whether a worker has polled the queue lately, for each of the kinds of tasks. An empty identity stands for
// any worker.
func Polled(ctx context.Context, c client.Client, queue, identity string, kinds ...enumspb.TaskQueueType) (bool, error) {
	for _, kind := range kinds {
		described, err := c.DescribeTaskQueue(ctx, queue, kind)
		if err != nil {
			return false, Explain(err)
		}
		recent := slices.ContainsFunc(described.GetPollers(), func(p *taskqueue.PollerInfo) bool {
			return (identity == "" || p.GetIdentity() == identity) && time.Since(p.GetLastAccessTime().AsTime()) < pollsWithin
		})
		if !recent {
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
