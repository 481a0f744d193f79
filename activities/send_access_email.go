package activities

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"handover/internal/email"
	"handover/internal/failpoint"
	"handover/internal/ledger"
	"handover/internal/link"
	"handover/internal/order"
)

type emailLedger interface {
	ClaimEmail(ctx context.Context, w ledger.ObligationID, t ledger.LeaseOptions, render func(ledger.EmailData) (ledger.Rendered, error)) (ledger.EmailClaim, error)
	Finish(ctx context.Context, w ledger.ObligationID, token, providerID string) (order.Snapshot, error)
	Release(ctx context.Context, w ledger.ObligationID, token string, class order.Class, spent bool) error
	AcceptByEvidence(ctx context.Context, w ledger.ObligationID, token string) (bool, error)
	AcceptByList(ctx context.Context, w ledger.ObligationID, token string, found []string, margin time.Duration) (bool, error)
	Unverified(ctx context.Context, w ledger.ObligationID) (ledger.AttemptedEmail, bool, error)
}

// SendAccessEmailInput asks for one generation of the access email.
type SendAccessEmailInput struct {
	Order      order.Key `json:"order"`
	Generation int       `json:"generation"`
}

// SendAccessEmailResult is what became of it.
type SendAccessEmailResult struct {
	Email         order.EmailState `json:"email"`
	WaitSeconds   int              `json:"wait_seconds,omitempty"`    // try again after that; no attempt was spent
	GiveUpSeconds int              `json:"give_up_seconds,omitempty"` // how long such waits may take together
	Suspended     bool             `json:"resting,omitempty"`         // not wanted now
}

// SendAccessEmail makes the email provider accept one generation of the access email. The message is frozen with the
// first claim, so that every attempt sends the same bytes under the same key, handover/ENVIRONMENT/SESSION/email/N, and
// the provider recognises a repetition for as long as it keeps the key; no attempt starts later than that. Final: the
// provider refuses the message or our settings, or nobody can tell whether an earlier call arrived.
func (a *Activities) SendAccessEmail(ctx context.Context, in SendAccessEmailInput) (SendAccessEmailResult, error) {
	work := ledger.EmailObligation(in.Order, in.Generation)
	terms := ledger.LeaseOptions{Duration: a.cfg.EmailLease, MaxAttempts: a.cfg.EmailAttempts, Window: a.cfg.EmailWindow}
	failpoint.Hit("email.before_claim")
	began := wallClock()
	claim, err := a.Ledger.ClaimEmail(ctx, work, terms, func(d ledger.EmailData) (ledger.Rendered, error) { return a.freeze(d, in.Generation) })
	if err != nil {
		return a.unclaimed(ctx, work, err)
	}
	failpoint.Hit("email.claimed")
	token, err := a.Links.Token(claim.LinkSecret, in.Order, claim.LinkVersion)
	if err != nil {
		return a.stopEmailFor(ctx, work, claim.Token, order.ClassMisconfigured, order.ReasonLinkSecret, err)
	}
	failpoint.Hit("email.before_send")
	if wallClock().Sub(began) >= a.cfg.EmailLease { // this process was frozen meanwhile, and another may have the claim
		return SendAccessEmailResult{}, a.failed(ctx, stepEmail, in.Order, order.ClassUnknown, ledger.ErrLeaseLost)
	}
	id, err := a.Sender.Send(ctx, in.Order.EmailKey(in.Generation), claim.Message.WithLink(a.Links.URL(token)))
	if err != nil {
		return a.sendFailure(ctx, work, claim.Token, err)
	}
	failpoint.Hit("email.answered")
	write, cancel := detached(ctx)
	defer cancel()
	if _, err := a.Ledger.Finish(write, work, claim.Token, id); err != nil {
		// The next attempt sends the same bytes under the same key, and the provider answers with the same message.
		return SendAccessEmailResult{}, a.failed(ctx, stepEmail, in.Order, order.ClassUnknown, err)
	}
	failpoint.Hit("email.finished")
	a.done(ctx, stepEmail, in.Order, string(order.EmailAccepted))
	return SendAccessEmailResult{Email: order.EmailAccepted}, nil
}

// freeze renders the message as it will be sent on every attempt, with a placeholder where the link goes.
func (a *Activities) freeze(d ledger.EmailData, generation int) (ledger.Rendered, error) {
	secret := a.Links.Newest()
	token, err := a.Links.Token(secret, d.Key, d.LinkVersion)
	if err != nil {
		return ledger.Rendered{}, err
	}
	subject, text, html, err := email.RenderAccess(a.content(d))
	if err != nil {
		return ledger.Rendered{}, err
	}
	hash := link.Hash(token)
	return ledger.Rendered{
		Message: order.Message{
			From: a.cfg.From, To: d.Address, ReplyTo: a.cfg.ReplyTo, Subject: subject, Text: text, HTML: html,
			Tags: []order.Tag{
				{Name: order.TagEnvironment, Value: d.Key.Environment},
				{Name: order.TagSession, Value: d.Key.Session},
				{Name: order.TagGeneration, Value: strconv.Itoa(generation)},
			},
		},
		LinkSecret: secret,
		LinkHash:   hash[:],
	}, nil
}

// unclaimed says what it means that there was nothing to claim.
func (a *Activities) unclaimed(ctx context.Context, work ledger.ObligationID, err error) (SendAccessEmailResult, error) {
	var denied *ledger.NotClaimableError
	if !errors.As(err, &denied) {
		v := judge(err)
		if v.class.Final() {
			return a.stopEmail(ctx, work, "", v.class, err)
		}
		return SendAccessEmailResult{}, a.failed(ctx, stepEmail, work.Key, v.class, err)
	}
	switch denied.Why {
	case ledger.ClaimFinished:
		return SendAccessEmailResult{Email: order.EmailAccepted}, nil
	case ledger.ClaimSuspended: // access has ended or is held; it goes out when that is over
		return SendAccessEmailResult{Email: order.EmailPending, Suspended: true}, nil
	case ledger.ClaimHeld:
		return a.emailWaits(denied.Until), nil
	case ledger.ClaimStopped:
		// The attempt that stopped it died before it could say so: this one says it.
		class := denied.Class
		if !class.Final() {
			class = order.ClassUncertain
		}
		return SendAccessEmailResult{}, a.failed(ctx, stepEmail, work.Key, class, err)
	case ledger.ClaimExhausted:
		return a.stopEmail(ctx, work, "", order.ClassExhausted, err)
	case ledger.ClaimPastWindow:
		return a.stopEmail(ctx, work, "", order.ClassPastWindow, err)
	}
	return SendAccessEmailResult{}, a.failed(ctx, stepEmail, work.Key, order.ClassPermanent, err)
}

func (a *Activities) sendFailure(ctx context.Context, work ledger.ObligationID, token string, err error) (SendAccessEmailResult, error) {
	v := judge(err)
	if v.class.Final() {
		return a.stopEmail(ctx, work, token, v.class, err)
	}
	limited := v.class == order.ClassRateLimited
	write, cancel := detached(ctx)
	defer cancel()
	if released := a.Ledger.Release(write, work, token, v.class, !limited); released != nil {
		return SendAccessEmailResult{}, a.failed(ctx, stepEmail, work.Key, v.class, errors.Join(err, released))
	}
	if limited {
		a.Outcomes.StepEnded(stepEmail, v.class)
		return a.emailWaits(v.wait), nil
	}
	return SendAccessEmailResult{}, a.failed(ctx, stepEmail, work.Key, v.class, err)
}

// stopEmail ends the attempts: with the proof that an earlier one arrived, where the provider's events or its list of sent
// mail have one, and else by marking the order before the error says so. Access stays as it is.
func (a *Activities) stopEmail(ctx context.Context, work ledger.ObligationID, token string, class order.Class, cause error) (SendAccessEmailResult, error) {
	return a.stopEmailFor(ctx, work, token, class, reasonFor(stepEmail, class), cause)
}

func (a *Activities) stopEmailFor(ctx context.Context, work ledger.ObligationID, token string, class order.Class, reason order.Reason, cause error) (SendAccessEmailResult, error) {
	proved, err := a.proveEmail(ctx, work, token, class)
	write, cancel := detached(ctx)
	defer cancel()
	var later *laterError
	switch {
	case errors.As(err, &later):
		// StopStep follows an error that is final; it looks again, and marks the order.
		a.Log.WarnContext(ctx, "the email provider's list of sent mail could not be looked through this time", "order", work.Key.String(), "error", err)
		if token != "" {
			_ = a.Ledger.Release(write, work, token, class, true) // a claim that cannot be given back expires
		}
		return SendAccessEmailResult{}, a.failed(ctx, stepEmail, work.Key, class, cause)
	case err != nil:
		return SendAccessEmailResult{}, a.failed(ctx, stepEmail, work.Key, judge(err).class, err)
	case proved:
		a.done(ctx, stepEmail, work.Key, "accepted by evidence")
		return SendAccessEmailResult{Email: order.EmailAccepted}, nil
	}
	err = a.Ledger.Stop(write, work, token, class, reason)
	if err != nil && !errors.Is(err, ledger.ErrLeaseLost) {
		return SendAccessEmailResult{}, a.failed(ctx, stepEmail, work.Key, judge(err).class, err)
	}
	return SendAccessEmailResult{}, a.failed(ctx, stepEmail, work.Key, class, cause)
}

// content is what the message says.
func (a *Activities) content(d ledger.EmailData) email.Access {
	c := email.Access{ShopName: a.cfg.ShopName, BuyerName: d.Name, OrderRef: d.Key.Session, Link: order.LinkPlaceholder}
	at := map[string]int{}
	for _, g := range d.Grants {
		if g.State == order.AccessRevoked || g.State == order.AccessHeld {
			continue // a refund of a part has ended it
		}
		i, seen := at[g.Product]
		if !seen {
			i = len(c.Items)
			at[g.Product] = i
			c.Items = append(c.Items, email.AccessItem{Name: a.productName(g.Product)})
		}
		if g.File != "" {
			c.Items[i].Download = true
		}
		if g.Secret != "" {
			c.Items[i].Units = max(c.Items[i].Units, g.Unit)
			c.Licenses = append(c.Licenses, email.LicenseLine{Product: a.productName(g.Product), Key: g.Secret})
		}
	}
	return c
}

func (a *Activities) productName(id string) string {
	if p, found := a.Catalogue.Product(id); found {
		return p.Name
	}
	return id
}

// emailWaits asks the run to try again later.
func (a *Activities) emailWaits(wait time.Duration) SendAccessEmailResult {
	return SendAccessEmailResult{Email: order.EmailPending, WaitSeconds: seconds(wait), GiveUpSeconds: seconds(a.cfg.EmailGiveUp)}
}

// seconds rounds up: a wait is never cut short.
func seconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }

// wallClock is the time without the monotonic clock, which stands still while a machine is suspended.
func wallClock() time.Time { return time.Now().Round(0) }
