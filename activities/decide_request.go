package activities

import (
	"context"
	"time"

	"handover/internal/failpoint"
	"handover/internal/flow"
	"handover/internal/order"
)

const stepRequest = "request"

type requestLedger interface {
	Resend(ctx context.Context, r order.Request) (order.Decision, error)
	Retry(ctx context.Context, r order.Request, window time.Duration) (order.Decision, error)
	Revoke(ctx context.Context, r order.Request, c *order.Catalogue) (order.Decision, error)
	Restore(ctx context.Context, r order.Request, c *order.Catalogue) (order.Decision, error)
	Relink(ctx context.Context, r order.Request) (order.Decision, error)
	Refuse(ctx context.Context, r order.Request, refusal order.Refusal) error
}

// DecideRequestInput is what a person asks for, or something that could not be understood.
type DecideRequestInput struct {
	Order     order.Key     `json:"order"`
	Kind      string        `json:"kind"`
	RequestID string        `json:"request_id"`
	Reason    string        `json:"reason,omitempty"`
	Refusal   order.Refusal `json:"refusal,omitempty"` // set when the request could not be understood
}

// DecideRequestResult is the answer to the request.
type DecideRequestResult struct {
	Outcome    order.Outcome `json:"outcome"`
	Refusal    order.Refusal `json:"refusal,omitempty"`
	Says       string        `json:"says,omitempty"` // the refusal in words
	Generation int           `json:"generation,omitempty"`
	Repeated   bool          `json:"repeated,omitempty"` // decided before: nothing was done now
	Reason     order.Reason  `json:"reason,omitempty"`   // why a person is still needed
}

// DecideRequest decides what a person asks for, a new email, another try at what has stopped, or how the access has to be, and writes down who asked,
// why, and what was known. A request has an identity that survives resets and repetitions: deciding it twice gives the first answer.
func (a *Activities) DecideRequest(ctx context.Context, in DecideRequestInput) (DecideRequestResult, error) {
	request := order.Request{Key: in.Order, ID: in.RequestID, Kind: in.Kind, Who: "temporal", Why: in.Reason}
	if in.Refusal != "" {
		if err := a.Ledger.Refuse(ctx, request, in.Refusal); err != nil {
			return DecideRequestResult{}, a.failed(ctx, stepRequest, in.Order, judge(err).class, err)
		}
		a.done(ctx, stepRequest, in.Order, string(in.Refusal))
		return refused(in.Refusal), nil
	}
	d, err := a.decide(ctx, request)
	if err != nil {
		return DecideRequestResult{}, a.failed(ctx, stepRequest, in.Order, judge(err).class, err)
	}
	failpoint.Hit("request.decided")
	a.done(ctx, stepRequest, in.Order, string(d.Outcome))
	return DecideRequestResult{Outcome: d.Outcome, Refusal: d.Refusal, Says: d.Refusal.Message(), Generation: d.Generation, Repeated: d.Repeated,
		Reason: d.Attention}, nil
}

func (a *Activities) decide(ctx context.Context, r order.Request) (order.Decision, error) {
	switch r.Kind {
	case flow.KindRetry:
		return a.Ledger.Retry(ctx, r, a.cfg.EmailWindow)
	case flow.KindRevoke:
		return a.Ledger.Revoke(ctx, r, a.Catalogue)
	case flow.KindRelink:
		return a.Ledger.Relink(ctx, r)
	case flow.KindRestore:
		return a.Ledger.Restore(ctx, r, a.Catalogue)
	}
	return a.Ledger.Resend(ctx, r)
}

func refused(r order.Refusal) DecideRequestResult {
	return DecideRequestResult{Outcome: order.OutcomeRefused, Refusal: r, Says: r.Message()}
}
