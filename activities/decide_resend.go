package activities

import (
	"context"

	"handover/internal/ledger"
	"handover/internal/order"
)

const stepRequest = "request"

type requestLedger interface {
	Resend(ctx context.Context, r ledger.Request) (ledger.Decision, error)
	Retry(ctx context.Context, r ledger.Request, window time.Duration) (ledger.Decision, error)
	Refuse(ctx context.Context, r ledger.Request, refusal order.Refusal) error
}

// KindResend is the word for a resend in requests and in the audit.
const KindResend = "resend"

// DecideResendInput is a request for a new email, or one that could not be understood.
type DecideResendInput struct {
	Order     order.Key     `json:"order"`
	RequestID string        `json:"request_id"`
	Reason    string        `json:"reason,omitempty"`
	Refusal   order.Refusal `json:"refusal,omitempty"` // set when the request could not be understood
}

// DecideResendResult is the answer to the request.
type DecideResendResult struct {
	Outcome    order.Outcome `json:"outcome"`
	Refusal    order.Refusal `json:"refusal,omitempty"`
	Says       string        `json:"says,omitempty"` // the refusal in words
	Generation int           `json:"generation,omitempty"`
	Repeated   bool          `json:"repeated,omitempty"` // decided before: nothing was done now
}

// DecideResend decides a request for a new email and writes down who asked, why, and what was known of the earlier
// message. A request has an identity that survives resets and repetitions: deciding it twice gives the first answer.
func (a *Activities) DecideResend(ctx context.Context, in DecideResendInput) (DecideResendResult, error) {
	request := ledger.Request{Key: in.Order, ID: in.RequestID, Kind: KindResend, Who: "temporal", Why: in.Reason}
	if in.Refusal != "" {
		if err := a.Ledger.Refuse(ctx, request, in.Refusal); err != nil {
			return DecideResendResult{}, a.failed(ctx, stepRequest, in.Order, judge(err).class, err)
		}
		a.done(ctx, stepRequest, in.Order, string(in.Refusal))
		return refused(in.Refusal), nil
	}
	d, err := a.Ledger.Resend(ctx, request)
	if err != nil {
		return DecideResendResult{}, a.failed(ctx, stepRequest, in.Order, judge(err).class, err)
	}
	a.done(ctx, stepRequest, in.Order, string(d.Outcome))
	return DecideResendResult{Outcome: d.Outcome, Refusal: d.Refusal, Says: d.Refusal.Says(), Generation: d.Generation, Repeated: d.Repeated}, nil
}

func refused(r order.Refusal) DecideResendResult {
	return DecideResendResult{Outcome: order.OutcomeRefused, Refusal: r, Says: r.Says()}
}
