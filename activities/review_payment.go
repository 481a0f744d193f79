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

const stepReview = "review"

type reversalLedger interface {
	BeginReview(ctx context.Context, key order.Key) (ledger.Review, error)
	RecordReversal(ctx context.Context, r ledger.Reversal, c *order.Catalogue) error
	StopReversal(ctx context.Context, key order.Key, class order.Class, reason order.Reason) error
	ChangeOwn(ctx context.Context, key order.Key, kinds []order.AccessKind, t ledger.Terms) (int, error)
	StopChange(ctx context.Context, key order.Key, class order.Class, reason order.Reason) error
}

// ReviewPaymentInput asks how the money of a confirmed payment stands.
type ReviewPaymentInput struct {
	Order order.Key `json:"order"`
}

// ReviewPaymentResult is what the review came to. What it makes of the order is in the ledger.
type ReviewPaymentResult struct {
	WaitSeconds   int `json:"wait_seconds,omitempty"`    // the provider asks to wait; nothing was found out
	GiveUpSeconds int `json:"give_up_seconds,omitempty"` // how long such waits may take together
}

// ReviewPayment makes it known what became of the money of a confirmed payment: it asks the provider for the refunds and
// disputes as they stand now, and writes down what that makes of the access. It changes no access itself. It is a read,
// so running it twice is safe. Final: the provider does not know the payment, or refuses our key.
func (a *Activities) ReviewPayment(ctx context.Context, in ReviewPaymentInput) (ReviewPaymentResult, error) {
	review, err := a.Ledger.BeginReview(ctx, in.Order)
	if errors.Is(err, ledger.ErrNotFound) {
		return ReviewPaymentResult{}, nil // not confirmed yet: the look at the payment comes first
	}
	if err != nil {
		return ReviewPaymentResult{}, a.failed(ctx, stepReview, in.Order, judge(err).class, err)
	}
	money := order.MoneyFacts{}
	if review.PaymentRef != "" { // else nothing was paid, and nothing can be paid back
		if money, err = a.askForMoney(ctx, in.Order, review.PaymentRef); err != nil {
			return a.reviewFailure(ctx, in.Order, err)
		}
	}
	err = a.Ledger.RecordReversal(ctx, ledger.Reversal{Key: in.Order, Since: review.Since, Money: money}, a.Catalogue)
	if err != nil {
		return ReviewPaymentResult{}, a.failed(ctx, stepReview, in.Order, judge(err).class, err)
	}
	failpoint.Hit("revoke.recorded")
	a.done(ctx, stepReview, in.Order, "recorded")
	return ReviewPaymentResult{}, nil
}

func (a *Activities) askForMoney(ctx context.Context, key order.Key, ref string) (order.MoneyFacts, error) {
	environment, found := a.Environments[key.Environment]
	if !found {
		return order.MoneyFacts{}, fmt.Errorf("environment %q is not in this worker's configuration: %w", key.Environment, errMisconfigured)
	}
	r, err := environment.Provider.Reversals(ctx, ref)
	if err != nil {
		return order.MoneyFacts{}, err
	}
	return order.MoneyFacts{
		Paid: r.Paid.Minor, Refunded: r.Refunded(payment.RefundSucceeded), Pending: r.Refunded(payment.RefundPending), Dispute: r.Dispute,
	}, nil
}

func (a *Activities) reviewFailure(ctx context.Context, key order.Key, err error) (ReviewPaymentResult, error) {
	v := judge(err)
	if v.class == order.ClassRateLimited {
		a.Outcomes.StepEnded(stepReview, v.class)
		return ReviewPaymentResult{WaitSeconds: seconds(v.wait), GiveUpSeconds: seconds(a.cfg.PaymentGiveUp)}, nil
	}
	if v.class.Final() {
		write, cancel := detached(ctx)
		defer cancel()
		if failure := a.Ledger.StopReversal(write, key, v.class, reasonFor(stepReview, v.class)); failure != nil {
			return ReviewPaymentResult{}, a.failed(ctx, stepReview, key, judge(failure).class, failure)
		}
	}
	return ReviewPaymentResult{}, a.failed(ctx, stepReview, key, v.class, err)
}

const stepRevoke = "revoke"

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
	changed, err := a.Ledger.ChangeOwn(ctx, in.Order, a.ownKinds(), ledger.Terms{Cap: a.cfg.RevokeAttempts})
	if err != nil {
		return ChangeAccessResult{}, a.failed(ctx, stepRevoke, in.Order, judge(err).class, err)
	}
	failpoint.Hit("revoke.done")
	read, err := a.ReadOrder(ctx, ReadOrderInput{Order: in.Order})
	if err != nil {
		return ChangeAccessResult{}, err
	}
	if read.ChangeDue {
		return ChangeAccessResult{}, a.failed(ctx, stepRevoke, in.Order, order.ClassRetry, errNotGiven)
	}
	if changed > 0 {
		a.done(ctx, stepRevoke, in.Order, string(read.Access))
	}
	return ChangeAccessResult{Access: read.Access}, nil
}
