package order

// OverrideFacts decide a person's request to end or to give back access.
type OverrideFacts struct {
	Payment PaymentState
	Asked   bool // a person is asked what becomes of the access
	Owed    int  // pieces of access owed on the order
	Whole   int  // of these, wanted as they were bought
	Revoked int  // of these, wanted revoked
}

// DecideOverride is the rule of revoke and restore. Both say how the access has to be from now on; a request for what is so
// already is refused, unless a person was asked for just that.
func DecideOverride(v Override, f OverrideFacts) (Outcome, Refusal) {
	switch {
	case f.Payment != PaymentConfirmed:
		return OutcomeRefused, RefusedUnpaid
	case f.Owed == 0:
		return OutcomeRefused, RefusedNothingOwed
	case v == OverrideRevoke && f.Revoked == f.Owed && !f.Asked:
		return OutcomeRefused, RefusedRevoked
	case v == OverrideRestore && f.Whole == f.Owed && !f.Asked:
		return OutcomeRefused, RefusedGranted
	case v == OverrideRevoke:
		return OutcomeRevoking, RefusedNone
	}
	return OutcomeRestoring, RefusedNone
}
