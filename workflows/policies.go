package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Policy bounds the automatic attempts of one step.
type Policy struct {
	Attempts     int
	FirstWait    time.Duration
	Factor       float64
	LongestWait  time.Duration
	GiveUpAfter  time.Duration // from scheduling to the end of the last attempt
	StartToClose time.Duration // one attempt
}

// Config is what the shop may set about how the steps are carried out: timeouts, retries and queues. A replay compares the
// order of commands and none of these, so they may change while orders are open. What decides which command comes next,
// as how long a payment is waited for, is no part of it: it comes in the results of the activities, so that a replay decides
// as the run did.
type Config struct {
	Payment Policy
	Access  Policy
	Email   Policy
	Revoke  Policy
	// EmailQueue is the task queue on which messages are sent, where the provider's rate limit is kept.
	EmailQueue string
}

// inSeconds reads what an activity's result says in seconds.
func inSeconds(n int) time.Duration { return time.Duration(n) * time.Second }

// ledgerPolicy bounds the steps that only touch our own database: they outlast a long outage of it, and end.
var ledgerPolicy = Policy{
	Attempts: 200, FirstWait: time.Second, Factor: 2, LongestWait: 5 * time.Minute, GiveUpAfter: 24 * time.Hour, StartToClose: 15 * time.Second,
}

// alertPolicy bounds telling the owner, which holds up nothing for long.
var alertPolicy = Policy{
	Attempts: 3, FirstWait: 2 * time.Second, Factor: 3, LongestWait: 30 * time.Second, GiveUpAfter: 2 * time.Minute, StartToClose: 40 * time.Second,
}

// reconcilePolicy bounds one pass over the ledger; the schedule's next run is the next attempt.
var reconcilePolicy = Policy{
	Attempts: 3, FirstWait: 5 * time.Second, Factor: 3, LongestWait: time.Minute, GiveUpAfter: 9 * time.Minute, StartToClose: 8 * time.Minute,
}

// reconcileHeartbeat is how long a pass may go without a sign: its worker has died then.
const reconcileHeartbeat = 30 * time.Second

// looks are the waits between two looks at a payment that is on its way, the last one repeated. The provider's events
// are what usually ends the wait; these are for the ones that never come.
var looks = []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// options are the activity's, with a line that says in the Temporal UI what it does.
func (p Policy) options(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout:    p.StartToClose,
		ScheduleToCloseTimeout: p.GiveUpAfter,
		Summary:                summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    p.FirstWait,
			BackoffCoefficient: p.Factor,
			MaximumInterval:    p.LongestWait,
			MaximumAttempts:    int32(p.Attempts),
		},
	}
}
