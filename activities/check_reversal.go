package activities

import (
	"context"
	"errors"
	"fmt"

	"handover/internal/failpoint"
	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

const stepReversal = "review"

type reversalLedger interface {
	BeginReversal(ctx context.Context, key order.Key) (ledger.ReversalCheck, error)
	RecordReversal(ctx context.Context, r ledger.Reversal, c *order.Catalogue) error
	StopReversal(ctx context.Context, key order.Key, class order.Class, reason order.Reason) error
	ChangeLocal(ctx context.Context, key order.Key, kinds []order.AccessKind) (int, error)
	StopAccessChange(ctx context.Context, key order.Key, class order.Class, reason order.Reason) error
}

// CheckReversalInput asks how the money of a confirmed payment stands.
type CheckReversalInput struct {
	Order order.Key `json:"order"`
}

// CheckReversalResult is what the review came to. What it makes of the order is in the ledger.
type CheckReversalResult struct {
	WaitSeconds   int `json:"wait_seconds,omitempty"`    // the provider asks to wait; nothing was found out
	GiveUpSeconds int `json:"give_up_seconds,omitempty"` // how long such waits may take together
}

// CheckReversal makes it known what became of the money of a confirmed payment: it asks the provider for the refunds and
// disputes as they stand now, and writes down what that makes of the access. It changes no access itself. It is a read,
// so running it twice is safe. Final: the provider does not know the payment, or refuses our key.
func (a *Activities) CheckReversal(ctx context.Context, in CheckReversalInput) (CheckReversalResult, error) {
	review, err := a.Ledger.BeginReversal(ctx, in.Order)
	if errors.Is(err, ledger.ErrNotFound) {
		return CheckReversalResult{}, nil // not confirmed yet: the look at the payment comes first
	}
	if err != nil {
		return CheckReversalResult{}, a.failed(ctx, stepReversal, in.Order, judge(err).class, err)
	}
	money := order.ReversalFacts{}
	if review.PaymentRef != "" { // else nothing was paid, and nothing can be paid back
		if money, err = a.askForMoney(ctx, in.Order, review.PaymentRef); err != nil {
			return a.reviewFailure(ctx, in.Order, err)
		}
	}
	err = a.Ledger.RecordReversal(ctx, ledger.Reversal{Key: in.Order, Since: review.Since, Money: money}, a.Catalogue)
	if err != nil {
		return CheckReversalResult{}, a.failed(ctx, stepReversal, in.Order, judge(err).class, err)
	}
	failpoint.Hit("revoke.recorded")
	a.done(ctx, stepReversal, in.Order, "recorded")
	return CheckReversalResult{}, nil
}

func (a *Activities) askForMoney(ctx context.Context, key order.Key, ref string) (order.ReversalFacts, error) {
	environment, found := a.Environments[key.Environment]
	if !found {
		return order.ReversalFacts{}, fmt.Errorf("environment %q is not in this worker's configuration: %w", key.Environment, errMisconfigured)
	}
	r, err := environment.Provider.Reversals(ctx, ref)
	if err != nil {
		return order.ReversalFacts{}, err
	}
	return order.ReversalFacts{
		Paid: r.Paid.Minor, Refunded: r.Refunded(payment.RefundSucceeded), Pending: r.Refunded(payment.RefundPending), Dispute: r.Dispute,
	}, nil
}

func (a *Activities) reviewFailure(ctx context.Context, key order.Key, err error) (CheckReversalResult, error) {
	v := judge(err)
	if v.class == order.ClassRateLimited {
		a.Outcomes.StepEnded(stepReversal, v.class)
		return CheckReversalResult{WaitSeconds: seconds(v.wait), GiveUpSeconds: seconds(a.cfg.PaymentGiveUp)}, nil
	}
	if v.class.Final() {
		write, cancel := detached(ctx)
		defer cancel()
		if failure := a.Ledger.StopReversal(write, key, v.class, reasonFor(stepReversal, v.class)); failure != nil {
			return CheckReversalResult{}, a.failed(ctx, stepReversal, key, judge(failure).class, failure)
		}
	}
	return CheckReversalResult{}, a.failed(ctx, stepReversal, key, v.class, err)
}

const stepAccessChange = "revoke"

// ChangeAccessInput asks for every change of access that is owed on an order.
type ChangeAccessInput struct {
	Order order.Key `json:"order"`
}

// ChangeAccessResult is what the buyer can open now.
type ChangeAccessResult struct {
	Access order.AccessState `json:"access"`
}

// ChangeAccess ends, holds or gives back access as the ledger says it has to be. Claiming, changing and finishing are
// one transaction, so it happens whole or not at all, and what is finished is left as it is.
func (a *Activities) ChangeAccess(ctx context.Context, in ChangeAccessInput) (ChangeAccessResult, error) {
	failpoint.Hit("revoke.before_claim")
	changed, err := a.Ledger.ChangeLocal(ctx, in.Order, a.ownKinds())
	if err != nil {
		return ChangeAccessResult{}, a.failed(ctx, stepAccessChange, in.Order, judge(err).class, err)
	}
	failpoint.Hit("revoke.done")
	read, err := a.ReadOrder(ctx, ReadOrderInput{Order: in.Order})
	if err != nil {
		return ChangeAccessResult{}, err
	}
	if read.AccessChangeDue {
		return ChangeAccessResult{}, a.failed(ctx, stepAccessChange, in.Order, order.ClassRetry, errNotGiven)
	}
	if changed > 0 {
		a.done(ctx, stepAccessChange, in.Order, string(read.Access))
	}
	return ChangeAccessResult{Access: read.Access}, nil
}
