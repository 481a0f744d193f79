package order

// Class says what to do about a failure. The list is closed: a provider's own words never become one.
type Class string

// The classes of failures.
const (
	ClassRetry         Class = "retry"           // a passing fault: try again, nothing was done
	ClassRateLimited   Class = "rate_limited"    // wait as long as the provider says; spends no attempt
	ClassUnknown       Class = "unknown_outcome" // it may have happened: try again under the same key
	ClassPermanent     Class = "permanent"       // repeating is useless
	ClassMisconfigured Class = "misconfigured"   // the shop's settings are at fault: stop at once, for every order
	ClassExhausted     Class = "attempts_spent"  // the budget of attempts is used up
	ClassPastWindow    Class = "past_window"     // too late to repeat safely under the same key
	ClassUncertain     Class = "uncertain"       // an earlier call arrived and its outcome cannot be proved
	ClassLedger        Class = "ledger"          // our own database failed: wait for it; nobody's attempts are spent
)

// Final says that no automatic attempt follows.
func (c Class) Final() bool {
	switch c {
	case ClassPermanent, ClassMisconfigured, ClassExhausted, ClassPastWindow, ClassUncertain:
		return true
	}
	return false
}
