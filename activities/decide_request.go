package activities

import (
	"context"

	"handover/internal/failpoint"
	"handover/internal/flow"
	"handover/internal/order"
)

// DecideRequestInput is what a person asks for, or something that could not be understood.
type DecideRequestInput struct {
	order.Key
	Kind      string        `json:"kind"`
	RequestID string        `json:"request_id"`
	Reason    string        `json:"reason,omitempty"`
	Refusal   order.Refusal `json:"refusal,omitempty"` // set when the request could not be understood
}

// DecideRequestResult is the answer to the request, and how the order stands then.
type DecideRequestResult struct {
	flow.Answer
	Progress
}

// DecideRequest decides what a person asks for: a new email, another try at what has stopped, or how the access has to be.
// It records who asked, why, and what was known. A request has an identity that survives resets and repetitions: deciding it
// twice gives the first answer.
func (a *Activities) DecideRequest(ctx context.Context, in DecideRequestInput) (DecideRequestResult, error) {
	d, err := a.decide(ctx, order.Request{Key: in.Key, ID: in.RequestID, Kind: in.Kind, Who: "temporal", Why: in.Reason}, in.Refusal)
	if err != nil {
		return DecideRequestResult{}, a.broken(ctx, stepRequest, in.Key, err)
	}
	failpoint.Hit("request.decided")

	now, err := a.Ledger.Snapshot(ctx, in.Key)
	if err != nil {
		return DecideRequestResult{}, a.broken(ctx, stepRequest, in.Key, err)
	}
	a.done(ctx, stepRequest, in.Key, string(d.Outcome))
	return DecideRequestResult{
		Answer: flow.Answer{Outcome: d.Outcome, Refusal: d.Refusal, Says: d.Refusal.Message(), Generation: d.Generation,
			Repeated: d.Repeated, Reason: now.Reason},
		Progress: a.progress(now),
	}, nil
}

func (a *Activities) decide(ctx context.Context, r order.Request, refusal order.Refusal) (order.Decision, error) {
	if refusal != order.RefusedNone {
		return order.Decision{Outcome: order.OutcomeRefused, Refusal: refusal}, a.Ledger.Refuse(ctx, r, refusal)
	}
	switch r.Kind {
	case flow.KindRetry:
		return a.Ledger.Retry(ctx, r, a.cfg.EmailWindow)
	case flow.KindRevoke:
		return a.Ledger.Revoke(ctx, r, a.Catalogue)
	case flow.KindRelink:
		return a.Ledger.Relink(ctx, r, func(e order.Entitlement) ([]order.Grant, error) { return a.issue(r.Key, e) })
	case flow.KindRestore:
		return a.Ledger.Restore(ctx, r, a.Catalogue)
	}
	return a.Ledger.Resend(ctx, r)
}
