package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"handover/internal/access"
	"handover/internal/email"
	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

// verdict is what a failure means: its class, and how long to wait where the provider says so.
type verdict struct {
	class order.Class
	wait  time.Duration
}

// How long to wait where a provider limits us without saying for how long.
const (
	waitUnsaid  = 2 * time.Second
	waitDaily   = time.Hour
	waitMonthly = 6 * time.Hour
)

// judge classes an error of any of the steps.
func judge(err error) verdict {
	var fromPayment *payment.APIError
	var fromEmail *email.SendError
	switch {
	case errors.As(err, &fromPayment):
		return judgePayment(fromPayment)
	case errors.As(err, &fromEmail):
		return judgeEmail(fromEmail)
	case errors.Is(err, ledger.ErrNoAddress), errors.Is(err, access.ErrNever):
		return verdict{class: order.ClassPermanent}
	case errors.Is(err, errMisconfigured):
		return verdict{class: order.ClassMisconfigured}
	}
	return verdict{class: order.ClassRetry}
}

// errMisconfigured marks a fault in the shop's settings that is found before any call.
var errMisconfigured = errors.New("misconfigured")

// judgePayment classes an answer of a payment provider, and says how long it asks to wait.
func judgePayment(e *payment.APIError) verdict {
	v := verdict{class: e.Class()}
	if v.class == order.ClassRateLimited {
		v.wait = said(e.RetryAfter, waitUnsaid)
	}
	return v
}

// judgeEmail classes an answer of an email provider: by the error's name where it has one that decides, else by the
// status. Resend's names: https://resend.com/docs/api-reference/errors
func judgeEmail(e *email.SendError) verdict {
	switch {
	case e.Status == 0 || e.Unreadable || e.Status >= 500 || e.Status == 408:
		return verdict{class: order.ClassUnknown}
	case e.Name == "daily_quota_exceeded":
		return verdict{order.ClassRateLimited, said(e.RetryAfter, waitDaily)}
	case e.Name == "monthly_quota_exceeded":
		return verdict{order.ClassRateLimited, said(e.RetryAfter, waitMonthly)}
	case e.Status == 429:
		return verdict{order.ClassRateLimited, said(e.RetryAfter, waitUnsaid)}
	case e.Name == "invalid_idempotent_request":
		// The key was used with other bytes: an earlier call of ours arrived. A new key would send a second message.
		return verdict{class: order.ClassUncertain}
	case e.Status == 409:
		return verdict{class: order.ClassUnknown}
	case e.Status == 401 || e.Status == 403 || e.Status/100 == 3:
		return verdict{class: order.ClassMisconfigured}
	}
	return verdict{class: order.ClassPermanent}
}

func said(wait, unsaid time.Duration) time.Duration {
	if wait > 0 {
		return wait
	}
	return unsaid
}

// reasonFor is why an order needs attention when a step ends for good.
func reasonFor(step string, class order.Class) order.Reason {
	misconfigured := class == order.ClassMisconfigured
	switch step {
	case stepPayment:
		if misconfigured {
			return order.ReasonPaymentConfig
		}
		return order.ReasonPaymentStopped
	case stepAccess:
		return order.ReasonAccessStopped
	case stepReversal:
		if misconfigured {
			return order.ReasonPaymentConfig
		}
		return order.ReasonReversalUnread
	case stepAccessChange:
		return order.ReasonRevokeStopped
	}
	switch class {
	case order.ClassMisconfigured:
		return order.ReasonEmailConfig
	case order.ClassPermanent:
		return order.ReasonEmailRefused
	case order.ClassUncertain, order.ClassPastWindow:
		return order.ReasonEmailUncertain
	}
	return order.ReasonEmailExhausted
}

// failed turns a failure into the error that Temporal sees: a class and nothing else, so that no provider's text, no
// address and no key enters a history. Final classes are not retried; those of a passing fault follow the policy.
func (a *Activities) failed(ctx context.Context, step string, key order.Key, class order.Class, cause error) error {
	a.Outcomes.StepEnded(step, class)
	a.Log.WarnContext(ctx, "step failed", "step", step, "order", key.String(), "class", string(class), "error", cause)
	message := step + ": " + string(class)
	if class.Final() {
		return temporal.NewNonRetryableApplicationError(message, string(class), nil)
	}
	return temporal.NewApplicationError(message, string(class))
}

// failedFor is failed for a look that is worth another one, after the wait that the provider asks for.
func (a *Activities) failedFor(ctx context.Context, step string, key order.Key, later *laterError) error {
	a.Outcomes.StepEnded(step, order.ClassRetry)
	a.Log.WarnContext(ctx, "step failed", "step", step, "order", key.String(), "class", string(order.ClassRetry), "error", later)
	return temporal.NewApplicationErrorWithOptions(step+": "+string(order.ClassRetry), string(order.ClassRetry),
		temporal.ApplicationErrorOptions{NextRetryDelay: later.wait})
}
