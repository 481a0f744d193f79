package main

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"

	"handover/internal/lab/harness"
)

// counted is what the histories of delivered orders hold.
type counted struct {
	events   []int64 // of each history that was counted
	billable int     // actions that Temporal Cloud bills, of one
}

// billable are the events behind the actions of https://docs.temporal.io/cloud/actions that an order can bring about.
var billable = map[enumspb.EventType]bool{
	enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:               true,
	enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:                  true,
	enumspb.EVENT_TYPE_TIMER_STARTED:                            true,
	enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:              true,
	enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED:       true,
	enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:        true,
	enumspb.EVENT_TYPE_MARKER_RECORDED:                          true,
	enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:      true,
	enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED: true,
}

// sampled is how many histories are counted.
const sampled = 20

// histories counts some of the run's orders, all of which are delivered.
func (b *bench) histories(ctx context.Context, r *report) error {
	sessions := b.buyer.delivered()
	step := max(1, len(sessions)/sampled)
	for i := 0; i < len(sessions); i += step {
		if err := b.settle(ctx, sessions[i]); err != nil {
			return fmt.Errorf("order %s/%s: %w", environment, sessions[i], err)
		}
		events, _, err := b.describe(ctx, sessions[i])
		if err != nil {
			return err
		}
		r.history.events = append(r.history.events, events)
	}
	history := b.temporal.GetWorkflowHistory(ctx, harness.WorkflowID(sessions[0]), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		if err != nil {
			return err
		}
		if billable[event.GetEventType()] {
			r.history.billable++
		}
	}
	return nil
}
