package order

import "time"

// Failure is what a provider's response, or the lack of one, says about a call that did not succeed.
type Failure struct {
	Status     int           // of HTTP; 0 when there was no response
	Name       string        // the provider's documented name of the error; empty when it gave none
	Unreadable bool          // a success whose body could not be read
	Write      bool          // the call may have changed something, so a missing response leaves its outcome unknown
	RetryAfter time.Duration // how long the provider asks to wait; 0 when it does not say
}

// How long a provider's limit lasts at least, whatever it says: of a day's quota it may name the next second.
const (
	waitDaily   = time.Hour
	waitMonthly = 6 * time.Hour
)

// Classify is the one rule of what a provider's failure means, and how long to wait at least before the next attempt.
// Where it knows the error's name it goes by that, else by the status. The names are Resend's:
// https://resend.com/docs/api-reference/errors
func Classify(f Failure) (Class, time.Duration) {
	switch f.Name {
	case "daily_quota_exceeded":
		return ClassRateLimited, max(f.RetryAfter, waitDaily)
	case "monthly_quota_exceeded":
		return ClassRateLimited, max(f.RetryAfter, waitMonthly)
	case "invalid_idempotent_request":
		// The key was used with other bytes: an earlier call of ours arrived. A new key would send a second message.
		return ClassUncertain, 0
	}
	switch {
	case f.Status == 0 || f.Unreadable || f.Status >= 500 || f.Status == 408 || f.Status == 409:
		if f.Write {
			return ClassUnknown, 0
		}
		return ClassRetry, 0
	case f.Status == 429:
		return ClassRateLimited, f.RetryAfter
	case f.Status == 401 || f.Status == 403 || f.Status/100 == 3:
		return ClassMisconfigured, 0
	case f.Write && misconfigured(f):
		return ClassMisconfigured, 0
	}
	return ClassPermanent, 0
}

// misconfigured says that a refused message is refused for the shop's settings, which no address would change.
func misconfigured(f Failure) bool {
	switch f.Name {
	case "invalid_from_address", "missing_api_key", "invalid_api_key", "restricted_api_key", "invalid_access", "security_error":
		return true
	}
	return f.Status == 404 || f.Status == 405 || f.Status == 451
}

// ReasonFor is why an order needs attention when a step has ended with that class of failure.
func ReasonFor(step Step, class Class) Reason {
	if class == ClassMisconfigured {
		switch step {
		case StepPayment, StepReversal:
			return ReasonPaymentConfig
		case StepEmail:
			return ReasonEmailConfig
		}
	}
	switch step {
	case StepPayment:
		return ReasonPaymentStopped
	case StepReversal:
		return ReasonReversalUnread
	case StepAccess:
		return ReasonAccessStopped
	case StepAccessChange:
		return ReasonRevokeStopped
	}
	switch class {
	case ClassPermanent:
		return ReasonEmailRefused
	case ClassUncertain, ClassPastWindow:
		return ReasonEmailUncertain
	}
	return ReasonEmailExhausted
}
