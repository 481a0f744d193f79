package order

// RetryFacts are what a retry is decided on.
type RetryFacts struct {
	Payment      PaymentState
	ItemsUnknown bool   // the catalogue did not know everything that was bought
	Reversal     bool   // a refund or a dispute could not be retrieved
	Access       bool   // access has stopped
	AccessChange bool   // a change of access has stopped
	Email        bool   // the newest email has stopped
	Address      string // to whom the newest email would go
	PastWindow   bool   // the newest email's first attempt is too long ago to repeat it under its key
	Unfinished   bool   // nothing has stopped, and not everything is done
}

// DecideRetry is the rule of the retry: the stopped steps get a fresh budget, and keep their keys. Which steps those are
// is said in their sequence. An email past its window could become a second one, which is for a resend to decide.
func DecideRetry(f RetryFacts) (steps []Step, outcome Outcome, refusal Refusal) {
	if f.Payment == PaymentAttention || f.ItemsUnknown {
		steps = append(steps, StepPayment)
	}
	if f.Access {
		steps = append(steps, StepAccess)
	}
	if f.Reversal {
		steps = append(steps, StepReversal)
	}
	if f.AccessChange {
		steps = append(steps, StepAccessChange)
	}
	if f.Email {
		switch {
		case f.Address == "":
			refusal = RefusedNoAddress
		case f.PastWindow:
			refusal = RefusedPastWindow
		default:
			steps = append(steps, StepEmail)
		}
	}
	switch {
	case len(steps) > 0:
		return steps, OutcomeRetrying, RefusedNone
	case refusal != RefusedNone:
		return nil, OutcomeRefused, refusal
	case f.Unfinished:
		return nil, OutcomeRetrying, RefusedNone // a run that was lost is all it needs
	}
	return nil, OutcomeRefused, RefusedNothingStopped
}
