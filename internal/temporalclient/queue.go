package temporalclient

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"handover/internal/flow"
)

// OpenOrders counts the orders that run on a task queue.
func OpenOrders(ctx context.Context, c client.Client, queue string) (int64, error) {
	query := fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running' AND TaskQueue = '%s'", flow.DeliverName, strings.ReplaceAll(queue, "'", ""))
	counted, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: query})
	return counted.GetCount(), Explain(err)
}

// owner is the entry of the schedule's memo that says which installation has the task queue.
const owner = "installation"

// ErrQueueTaken means that another installation uses a task queue.
var ErrQueueTaken = errors.New("of this namespace is used by another installation, with another database")

// ClaimQueue refuses a task queue that another installation uses in the namespace: the two would take each other's orders.
// The schedule says whose the queue is. One whose owner has no living worker any more is taken over.
func ClaimQueue(ctx context.Context, c client.Client, queue, installation string) error {
	handle := c.ScheduleClient().GetHandle(ctx, ScheduleID(queue))
	described, err := handle.Describe(ctx)
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return nil
	}
	if err != nil {
		return Explain(err)
	}
	var has string
	if value, written := described.Memo.GetFields()[owner]; written {
		_ = converter.GetDefaultDataConverter().FromPayload(value, &has)
	}
	if has == "" || has == installation {
		return nil
	}
	polls, err := living(ctx, c, queue)
	switch {
	case err != nil:
		return err
	case polls:
		return fmt.Errorf("task queue %s %w", queue, ErrQueueTaken)
	}
	return Explain(handle.Delete(ctx)) // EnsureSchedule makes one of ours
}

// living says whether a worker polls the queue. Temporal lists one that was killed for some minutes more, so one of this
// machine is asked for by its process.
func living(ctx context.Context, c client.Client, queue string) (bool, error) {
	described, err := c.DescribeTaskQueue(ctx, queue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return false, Explain(err)
	}
	here, _ := os.Hostname()
	for _, p := range described.GetPollers() {
		if time.Since(p.GetLastAccessTime().AsTime()) >= pollsWithin {
			continue
		}
		_, at, _ := strings.Cut(p.GetIdentity(), "@")
		host, process, _ := strings.Cut(at, ":")
		pid, err := strconv.Atoi(process)
		if host == here && err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		return true, nil
	}
	return false, nil
}
