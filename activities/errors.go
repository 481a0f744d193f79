package activities

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"handover/internal/access"
	"handover/internal/email"
	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

// Names of activities that are no step of an order, in logs and metrics.
const (
	stepRead      order.Step = "read"
	stepRequest   order.Step = "request"
	stepStop      order.Step = "stop"
	stepAlert     order.Step = "alert"
	stepReconcile order.Step = "reconcile"
	stepSales     order.Step = "reconcile_sales"
	stepReversals order.Step = "reconcile_reversals"
	stepTidy      order.Step = "tidy"
)

// reconciling are the activities of the reconciliation: the next attempt of each is the schedule's next run.
var reconciling = []order.Step{stepReconcile, stepSales, stepReversals, stepTidy}

// errMisconfigured marks a fault in the shop's settings that is found before any call.
var errMisconfigured = errors.New("misconfigured")

// classify says what an error of any step means, and how long a provider asks to wait.
func classify(err error) (order.Class, time.Duration) {
	var fromPayment *payment.APIError
	var fromEmail *email.SendError
	switch {
	case errors.As(err, &fromPayment):
		return order.Classify(fromPayment.Failure())
	case errors.As(err, &fromEmail):
		return order.Classify(fromEmail.Failure())
	case errors.Is(err, ledger.ErrNoAddress), errors.Is(err, access.ErrNever):
		return order.ClassPermanent, 0
	case errors.Is(err, errMisconfigured):
		return order.ClassMisconfigured, 0
	case ledger.Failed(err):
		return order.ClassLedger, 0
	}
	return order.ClassRetry, 0
}

// How long a step waits that may not be done now: as long as the provider says, at least a time that doubles with each
// turn, and not all orders for the same.
const (
	shortestWait = 2 * time.Second
	longestWait  = 5 * time.Minute
)

func pause(said time.Duration, turn int) time.Duration {
	backoff := min(shortestWait<<min(turn, 10), longestWait)
	return max(said, backoff) + rand.N(backoff/4)
}

// A failure of our own database is tried again a few times within an activity, which costs the history nothing; then the
// run itself waits for the database, by reading the ledger.
const (
	ledgerTries       = 3
	longestLedgerWait = time.Minute
)

// failed turns a failure into the error that Temporal sees: a class, a reason and nothing else, so that no provider's
// text, no address and no key enters a history. Final classes are not retried; those of a passing fault follow the policy.
func (a *Activities) failed(ctx context.Context, step order.Step, key order.Key, class order.Class, cause error) error {
	return a.failedFor(ctx, step, key, class, order.ReasonFor(step, class), cause)
}

func (a *Activities) failedFor(ctx context.Context, step order.Step, key order.Key, class order.Class, reason order.Reason, cause error) error {
	a.Outcomes.StepEnded(string(step), class)
	a.Log.WarnContext(ctx, "step failed", "step", string(step), "order", key.String(), "class", string(class), "error", cause)
	options := temporal.ApplicationErrorOptions{NonRetryable: class.Final()}
	switch {
	case class.Final():
		options.Details = []any{reason}
	case class == order.ClassLedger && !slices.Contains(reconciling, step):
		tries := attempt(ctx)
		options.NonRetryable = tries >= ledgerTries && step != stepRead
		options.NextRetryDelay = pause(0, tries-1)
		options.NextRetryDelay = min(options.NextRetryDelay, longestLedgerWait)
	}
	return temporal.NewApplicationErrorWithOptions(string(step)+": "+string(class), string(class), options)
}

// broken is failed for an error of the ledger, or any other that says itself what it means.
func (a *Activities) broken(ctx context.Context, step order.Step, key order.Key, err error) error {
	class, _ := classify(err)
	return a.failed(ctx, step, key, class, err)
}

// later is an error that is worth another attempt after a wait.
func (a *Activities) later(ctx context.Context, step order.Step, key order.Key, wait time.Duration, cause error) error {
	a.Outcomes.StepEnded(string(step), order.ClassRetry)
	a.Log.WarnContext(ctx, "step failed", "step", string(step), "order", key.String(), "class", string(order.ClassRetry), "error", cause)
	return temporal.NewApplicationErrorWithOptions(string(step)+": "+string(order.ClassRetry), string(order.ClassRetry),
		temporal.ApplicationErrorOptions{NextRetryDelay: wait})
}

func attempt(ctx context.Context) int {
	if !activity.IsActivity(ctx) {
		return 1
	}
	return int(activity.GetInfo(ctx).Attempt)
}

// seconds rounds up: a wait is never cut short.
func seconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }
