package activities

import (
	"context"
	"errors"
	"time"

	"handover/internal/email"
	"handover/internal/ledger"
	"handover/internal/order"
)

// Bounds of reading the provider's list of sent mail.
const (
	clockSkew = time.Minute      // by how much the provider's clock may differ from the database's
	listTime  = 10 * time.Second // at most for reading it once
	writeTime = 5 * time.Second  // of an attempt, kept back for recording what was found
)

// unlistedError says that the list could not be read this time.
type unlistedError struct {
	cause error
	wait  time.Duration // how long the provider asks to wait; 0 when it does not say
}

func (e *unlistedError) Error() string { return "read the list of sent mail: " + e.cause.Error() }
func (e *unlistedError) Unwrap() error { return e.cause }

// verifyEmail finds out whether an email whose attempts have ended was accepted after all, and finishes it then: by the
// provider's events, which carry our tags, and where the outcome of the attempts is unknown by its list of sent mail, which
// only says to whom, with which subject and when. Nothing is concluded from a list that does not have it. An error that is
// an *unlistedError is worth another attempt.
func (a *Activities) verifyEmail(ctx context.Context, work ledger.ObligationID, token string, class order.Class) (bool, error) {
	if accepted, err := a.acceptByEvidence(ctx, work, token); accepted || err != nil || !outcomeUnknown(class) {
		return accepted, err
	}
	found, err := a.findEmail(ctx, work)
	if err != nil {
		return false, err
	}
	write, cancel := detached(ctx)
	defer cancel()
	if len(found) > 0 {
		accepted, err := a.Ledger.AcceptByList(write, work, token, found, a.listMargin())
		if accepted || err != nil {
			return accepted, err
		}
		a.Log.WarnContext(ctx, "a message in the provider's list may be this one or another", "order", work.Key.String(), "candidates", len(found))
	}
	// An event that came meanwhile found nothing stopped that it could settle.
	return a.Ledger.AcceptByEvidence(write, work, token)
}

func (a *Activities) acceptByEvidence(ctx context.Context, work ledger.ObligationID, token string) (bool, error) {
	write, cancel := detached(ctx)
	defer cancel()
	return a.Ledger.AcceptByEvidence(write, work, token)
}

// outcomeUnknown says that an attempt may have arrived without our knowing. Otherwise the provider's refusal is the answer.
func outcomeUnknown(class order.Class) bool {
	switch class {
	case order.ClassUnknown, order.ClassUncertain, order.ClassPastWindow, order.ClassExhausted:
		return true
	}
	return false
}

// findEmail lists the ids of all messages the provider took that can be this one. The list is read once at a time, because
// that goes by the same rate limit as the messages that are still to be sent.
func (a *Activities) findEmail(ctx context.Context, work ledger.ObligationID) ([]string, error) {
	finder, lists := a.Sender.(email.Finder)
	if !lists {
		return nil, nil
	}
	tried, open, err := a.Ledger.Unverified(ctx, work)
	if err != nil || !open {
		return nil, err
	}
	ctx, cancel := context.WithDeadline(ctx, a.listUntil(ctx))
	defer cancel()
	select {
	case a.listing <- struct{}{}:
		defer func() { <-a.listing }()
	case <-ctx.Done():
		return nil, &unlistedError{cause: ctx.Err()}
	}
	found, err := finder.Find(ctx, email.Lookup{
		From: tried.Message.From, To: tried.Message.To, Subject: tried.Message.Subject,
		Since: tried.First.Add(-clockSkew), Until: tried.Last.Add(a.listMargin()),
	})
	switch {
	case errors.Is(err, email.ErrNoList):
		a.Log.WarnContext(ctx, "the email provider's list of sent mail cannot be read: that needs a key with full access, and not too many messages since",
			"order", work.Key.String(), "error", err)
		return nil, nil
	case err != nil:
		_, said := classify(err)
		return nil, &unlistedError{cause: err, wait: said}
	}
	return found, nil
}

// listMargin is by how much the time in the list may differ from the beginning of an attempt.
func (a *Activities) listMargin() time.Duration { return a.cfg.EmailLease + clockSkew }

// listUntil leaves time to record what was found.
func (a *Activities) listUntil(ctx context.Context) time.Time {
	until := a.Now().Add(listTime)
	if deadline, bounded := ctx.Deadline(); bounded && deadline.Add(-writeTime).Before(until) {
		until = deadline.Add(-writeTime)
	}
	return until
}
