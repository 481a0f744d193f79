package activities

import (
	"cmp"
	"context"
	"errors"
	"time"

	"handover/internal/failpoint"
	"handover/internal/ledger"
	"handover/internal/link"
	"handover/internal/order"
)

// SendAccessEmailInput asks for one generation of the access email.
type SendAccessEmailInput struct {
	order.Key
	Generation int `json:"generation"`
	Turn       int `json:"turn,omitempty"` // how many waits there have been before
}

// SendAccessEmailResult is how the order stands then.
type SendAccessEmailResult struct{ Progress }

// SendAccessEmail makes the email provider accept one generation of the access email. The message is rendered and stored
// with the first claim, so that every attempt sends the same bytes under the same key, handover/ENVIRONMENT/SESSION/email/N,
// and the provider recognises a repetition for as long as it keeps the key; no attempt starts later than that. Final: the
// provider refuses the message or our settings, or nobody can tell whether an earlier call arrived.
func (a *Activities) SendAccessEmail(ctx context.Context, in SendAccessEmailInput) (SendAccessEmailResult, error) {
	w := emailWork{ObligationID: ledger.EmailObligation(in.Key, in.Generation), turn: in.Turn}
	lease := ledger.LeaseOptions{Duration: a.cfg.EmailLease, MaxAttempts: a.cfg.EmailAttempts, Window: a.cfg.EmailWindow}
	failpoint.Hit("email.before_claim")
	began := a.Now().Round(0) // the monotonic clock stands still while a machine is suspended
	claim, err := a.Ledger.ClaimEmail(ctx, w.ObligationID, lease, func(d ledger.EmailData) (ledger.Rendered, error) { return a.render(d, in.Generation) })
	if err != nil {
		return a.unclaimed(ctx, w, err)
	}
	w.token = claim.Token
	failpoint.Hit("email.claimed")

	token, err := a.Links.Token(claim.LinkSecret, in.Key, claim.LinkVersion)
	if err != nil {
		return a.stopEmail(ctx, w, order.ClassMisconfigured, order.ReasonLinkSecret, err)
	}
	failpoint.Hit("email.before_send")
	if a.Now().Round(0).Sub(began) >= a.cfg.EmailLease { // this process was suspended, and another may have the claim
		return SendAccessEmailResult{}, a.failed(ctx, order.StepEmail, in.Key, order.ClassUnknown, ledger.ErrLeaseLost)
	}
	id, err := a.Sender.Send(ctx, in.EmailKey(in.Generation), claim.Message.WithLink(link.URL(cmp.Or(claim.LinkBase, a.Links.Base()), token)))
	if err != nil {
		return a.sendFailure(ctx, w, err)
	}
	failpoint.Hit("email.answered")

	write, cancel := detached(ctx)
	defer cancel()
	now, err := a.Ledger.Finish(write, w.ObligationID, w.token, id)
	if err != nil {
		// The next attempt sends the same bytes under the same key, and the provider returns the same message.
		return SendAccessEmailResult{}, a.failed(ctx, order.StepEmail, in.Key, order.ClassUnknown, err)
	}
	failpoint.Hit("email.finished")
	a.done(ctx, order.StepEmail, in.Key, string(order.EmailAccepted))
	return SendAccessEmailResult{Progress{Snapshot: now}}, nil
}

// emailWork is one attempt at an email: its obligation, and the claim on it where there is one.
type emailWork struct {
	ledger.ObligationID
	token string
	turn  int
}

// unclaimed says what it means that there was nothing to claim.
func (a *Activities) unclaimed(ctx context.Context, w emailWork, err error) (SendAccessEmailResult, error) {
	var denied *ledger.NotClaimableError
	if !errors.As(err, &denied) {
		if class, _ := classify(err); class.Final() {
			return a.stopEmail(ctx, w, class, order.ReasonFor(order.StepEmail, class), err)
		}
		return SendAccessEmailResult{}, a.broken(ctx, order.StepEmail, w.Key, err)
	}
	switch denied.Why {
	case ledger.ClaimFinished, ledger.ClaimSuspended: // it is sent, or goes out when access is restored: the snapshot says which
		return a.emailStands(ctx, w)
	case ledger.ClaimHeld:
		return a.emailWaits(pause(denied.Until, w.turn)), nil
	case ledger.ClaimStopped:
		// The attempt that stopped it died before it could say so: this one says it.
		class := denied.Class
		if !class.Final() {
			class = order.ClassUncertain
		}
		return SendAccessEmailResult{}, a.failed(ctx, order.StepEmail, w.Key, class, err)
	case ledger.ClaimExhausted:
		return a.stopEmail(ctx, w, order.ClassExhausted, order.ReasonEmailExhausted, err)
	case ledger.ClaimPastWindow:
		return a.stopEmail(ctx, w, order.ClassPastWindow, order.ReasonEmailUncertain, err)
	}
	return SendAccessEmailResult{}, a.failed(ctx, order.StepEmail, w.Key, order.ClassPermanent, err)
}

func (a *Activities) sendFailure(ctx context.Context, w emailWork, err error) (SendAccessEmailResult, error) {
	class, said := classify(err)
	if class.Final() {
		return a.stopEmail(ctx, w, class, order.ReasonFor(order.StepEmail, class), err)
	}
	limited, wait := class == order.ClassRateLimited, a.cfg.EmailWait(attempt(ctx))
	if limited {
		wait = pause(said, w.turn)
	}
	write, cancel := detached(ctx)
	defer cancel()
	if released := a.Ledger.Release(write, w.ObligationID, w.token, class, !limited, wait); released != nil {
		return SendAccessEmailResult{}, a.failed(ctx, order.StepEmail, w.Key, class, errors.Join(err, released))
	}
	if limited {
		a.Outcomes.StepEnded(string(order.StepEmail), class)
		return a.emailWaits(wait), nil
	}
	return SendAccessEmailResult{}, a.failed(ctx, order.StepEmail, w.Key, class, err)
}

// stopEmail ends the attempts: with the evidence that an earlier one arrived, where the provider's events or its list of
// sent mail have some, and else by marking the order before the error says so. Access stays as it is.
func (a *Activities) stopEmail(ctx context.Context, w emailWork, class order.Class, reason order.Reason, cause error) (SendAccessEmailResult, error) {
	accepted, err := a.verifyEmail(ctx, w.ObligationID, w.token, class)
	write, cancel := detached(ctx)
	defer cancel()
	var unlisted *unlistedError
	switch {
	case errors.As(err, &unlisted):
		// StopStep follows an error that is final; it reads the list again, and marks the order.
		a.Log.WarnContext(ctx, "the email provider's list of sent mail could not be read this time", "order", w.Key.String(), "error", err)
		if w.token != "" {
			_ = a.Ledger.Release(write, w.ObligationID, w.token, class, true, 0) // a claim that cannot be given back expires
		}
		return SendAccessEmailResult{}, a.failedFor(ctx, order.StepEmail, w.Key, class, reason, cause)
	case err != nil:
		return SendAccessEmailResult{}, a.broken(ctx, order.StepEmail, w.Key, err)
	case accepted:
		a.done(ctx, order.StepEmail, w.Key, "accepted by evidence")
		return a.emailStands(ctx, w)
	}
	err = a.Ledger.Stop(write, w.ObligationID, w.token, class, reason)
	if err != nil && !errors.Is(err, ledger.ErrLeaseLost) {
		return SendAccessEmailResult{}, a.broken(ctx, order.StepEmail, w.Key, err)
	}
	return SendAccessEmailResult{}, a.failedFor(ctx, order.StepEmail, w.Key, class, reason, cause)
}

// emailStands reads what became of the email without this attempt.
func (a *Activities) emailStands(ctx context.Context, w emailWork) (SendAccessEmailResult, error) {
	now, err := a.Ledger.Snapshot(ctx, w.Key)
	if err != nil {
		return SendAccessEmailResult{}, a.broken(ctx, order.StepEmail, w.Key, err)
	}
	return SendAccessEmailResult{a.progress(now)}, nil
}

// emailWaits asks the run to try again later.
func (a *Activities) emailWaits(wait time.Duration) SendAccessEmailResult {
	return SendAccessEmailResult{Progress{WaitSeconds: seconds(wait), GiveUpSeconds: seconds(a.cfg.EmailGiveUp)}}
}
