package ledger

import "errors"

// Failed says that an error is a failure of the database, or of a statement of ours: nothing is known about the order and
// no provider is to blame. What the ledger decided itself, as that there is nothing to claim, is no failure.
func Failed(err error) bool {
	var failure databaseError
	return errors.As(err, &failure)
}

// databaseError marks what came from the driver.
type databaseError struct{ error }

func (e databaseError) Unwrap() error { return e.error }

// callbackError is what a caller's own function returned in the middle of a transaction.
type callbackError struct{ error }

func (e callbackError) Unwrap() error { return e.error }

func fromCallback(err error) error {
	if err == nil {
		return nil
	}
	return callbackError{err}
}

// fromDatabase says that an error came from the driver, and not from the ledger or its caller.
func fromDatabase(err error) bool {
	var callback callbackError
	var notClaimable *NotClaimableError
	switch {
	case errors.As(err, &callback), errors.As(err, &notClaimable):
		return false
	case errors.Is(err, ErrNoAddress), errors.Is(err, ErrLeaseLost), errors.Is(err, ErrNotFound):
		return false
	}
	return true
}
