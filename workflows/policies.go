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

// ledgerPolicy bounds the steps that only touch our own database. They outlast a day of its absence in one piece; a longer
// one is no end, because the run then starts them again.
var ledgerPolicy = Policy{
	Attempts: 1500, FirstWait: time.Second, Factor: 2, LongestWait: time.Minute, GiveUpAfter: 24 * time.Hour, StartToClose: 15 * time.Second,
}

// alertPolicy bounds notifying the owner, which holds up nothing for long.
var alertPolicy = Policy{
	Attempts: 3, FirstWait: 2 * time.Second, Factor: 3, LongestWait: 30 * time.Second, GiveUpAfter: 2 * time.Minute, StartToClose: 40 * time.Second,
}

// reconcilePolicy bounds one reconciliation; the schedule's next run is the next attempt.
var reconcilePolicy = Policy{
	Attempts: 3, FirstWait: 5 * time.Second, Factor: 3, LongestWait: time.Minute, GiveUpAfter: 9 * time.Minute, StartToClose: 8 * time.Minute,
}

// reconcileHeartbeat is how long a reconciliation may go without a heartbeat: its worker has died then.
const reconcileHeartbeat = 30 * time.Second

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
