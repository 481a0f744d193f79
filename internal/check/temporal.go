package check

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"handover/internal/config"
	"handover/internal/ledger"
	"handover/internal/temporalclient"
	"handover/internal/text"
)

const (
	nameTemporal   = "temporal"
	nameRetention  = "retention"
	nameWorkers    = "worker"
	nameEmailers   = "worker for emails"
	nameSchedule   = "schedule"
	nameAttributes = "search attributes"
	nameQueue      = "task queue"
)

// shortRetention is below what a person needs who comes back after a weekend.
const shortRetention = 72 * time.Hour

// temporal checks the server first, and the rest only when it responds.
func (s Shop) temporal(ctx context.Context) []Check {
	const next = "Orders are stored and wait until it is fixed; none is lost."
	c, namespace, err := s.OpenTemporal()
	if err != nil {
		return []Check{fail(nameTemporal, "the TEMPORAL_* settings cannot be read", "Correct them, or the profile that TEMPORAL_CONFIG_FILE and TEMPORAL_PROFILE name.")}
	}
	defer c.Close()
	asked, cancel := context.WithTimeout(ctx, limit)
	err = temporalclient.Healthy(asked, c, namespace)
	cancel()
	switch {
	case errors.Is(err, temporalclient.ErrNoNamespace):
		return []Check{fail(nameTemporal, err.Error(), "Create the namespace, or correct TEMPORAL_NAMESPACE. "+next)}
	case err != nil:
		return []Check{fail(nameTemporal, err.Error(), next)}
	}
	queue, moved := s.queue(ctx)
	checks := []func(context.Context) Check{
		func(ctx context.Context) Check { return retention(ctx, c, namespace) },
		func(ctx context.Context) Check {
			return workers(ctx, c, nameWorkers, queue, enumspb.TASK_QUEUE_TYPE_WORKFLOW, enumspb.TASK_QUEUE_TYPE_ACTIVITY)
		},
		func(ctx context.Context) Check {
			return workers(ctx, c, nameEmailers, temporalclient.EmailQueue(queue), enumspb.TASK_QUEUE_TYPE_ACTIVITY)
		},
		func(ctx context.Context) Check { return schedule(ctx, c, queue) },
		func(ctx context.Context) Check { return attributes(ctx, c, namespace) },
	}
	list := append(make([]Check, 0, len(checks)+1), good(nameTemporal, "answers, and has the namespace"))[:len(checks)+1]
	var checking sync.WaitGroup
	for i, run := range checks {
		checking.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			list[i+1] = run(ctx)
		})
	}
	checking.Wait()
	if moved {
		list = append(list, warn(nameQueue, "TASK_QUEUE is "+s.TaskQueue+", and the orders run on "+queue, "Leave TASK_QUEUE unset, or set it to "+queue+" everywhere: a worker on another queue does not start."))
	}
	return list
}

// queue is the task queue on which orders run, which the ledger knows where it can be asked, and whether TASK_QUEUE says
// another.
func (s Shop) queue(ctx context.Context) (queue string, moved bool) {
	queue = cmp.Or(s.TaskQueue, config.DefaultTaskQueue)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	pool, err := ledger.Connect(ctx, s.DatabaseURL)
	if err != nil {
		return queue, false
	}
	defer pool.Close()
	known, err := ledger.New(pool).Installation(ctx)
	if err != nil || known.TaskQueue == "" {
		return queue, false
	}
	return known.TaskQueue, s.TaskQueue != "" && known.TaskQueue != s.TaskQueue
}

func retention(ctx context.Context, c client.Client, namespace string) Check {
	kept, err := temporalclient.Retention(ctx, c, namespace)
	switch {
	case err != nil:
		return warn(nameRetention, err.Error(), "Run starter check again.")
	case kept == 0:
		return good(nameRetention, "the namespace does not say")
	case kept < shortRetention:
		return warn(nameRetention, "Temporal forgets a closed order's history after "+text.Age(kept)+"; the database keeps its facts, and nothing is delivered again",
			"To keep it for longer: temporal operator namespace update --retention 720h NAMESPACE")
	}
	return good(nameRetention, "a closed order's history is kept for "+text.Age(kept))
}

func workers(ctx context.Context, c client.Client, name, queue string, kinds ...enumspb.TaskQueueType) Check {
	polled, err := temporalclient.Polled(ctx, c, queue, "", kinds...)
	switch {
	case err != nil:
		return fail(name, err.Error(), "Run starter check again.")
	case !polled:
		return fail(name, "nobody polls task queue "+queue+": orders wait, and nothing is delivered",
			"Start a worker, with the same TASK_QUEUE, TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE as the starter; its /readyz says what it waits for.")
	}
	return good(name, "polls task queue "+queue)
}

func schedule(ctx context.Context, c client.Client, queue string) Check {
	const lost = ": an order whose webhook or workflow is lost is not found"
	state, err := temporalclient.ReadSchedule(ctx, c, queue)
	id := temporalclient.ScheduleID(queue)
	switch {
	case err != nil:
		return fail(nameSchedule, err.Error(), "Run starter check again.")
	case state == temporalclient.ScheduleMissing:
		return fail(nameSchedule, "there is none by the name "+id+lost, "Restart a worker: it creates the schedule when it starts.")
	case state == temporalclient.SchedulePaused:
		return fail(nameSchedule, id+" is paused"+lost, "Resume it in the Temporal UI (Schedules), or: temporal schedule toggle --unpause --schedule-id "+id)
	}
	return good(nameSchedule, id+" runs every ten minutes")
}

func attributes(ctx context.Context, c client.Client, namespace string) Check {
	if !temporalclient.HasAttributes(ctx, c, namespace) {
		return warn(nameAttributes, "the namespace lacks HandoverEnvironment or HandoverState: the Temporal UI cannot filter by them",
			"Add both, of type Keyword, to the namespace, and restart starter and worker. Deliveries do not need them.")
	}
	return good(nameAttributes, "HandoverEnvironment, HandoverState")
}
