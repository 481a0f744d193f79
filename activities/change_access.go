package activities

import (
	"context"

	"handover/internal/failpoint"
	"handover/internal/order"
)

// ChangeAccessInput asks for every change of access that is pending on an order.
type ChangeAccessInput struct{ order.Key }

// ChangeAccessResult is how the order stands then.
type ChangeAccessResult struct{ Progress }

// ChangeAccess revokes, holds or restores access as the ledger says. Claiming, changing and finishing are one
// transaction, so it happens whole or not at all, and what is finished is left as it is.
func (a *Activities) ChangeAccess(ctx context.Context, in ChangeAccessInput) (ChangeAccessResult, error) {
	failpoint.Hit("revoke.before_claim")
	changed, err := a.Ledger.ChangeLocal(ctx, in.Key, a.localKinds())
	if err != nil {
		return ChangeAccessResult{}, a.broken(ctx, order.StepAccessChange, in.Key, err)
	}
	failpoint.Hit("revoke.done")

	now, err := a.Ledger.Snapshot(ctx, in.Key)
	if err != nil {
		return ChangeAccessResult{}, a.broken(ctx, order.StepAccessChange, in.Key, err)
	}
	if now.AccessChangeDue {
		return ChangeAccessResult{}, a.failed(ctx, order.StepAccessChange, in.Key, order.ClassRetry, errUnknownKind)
	}
	if changed > 0 {
		a.done(ctx, order.StepAccessChange, in.Key, string(now.Access))
	}
	return ChangeAccessResult{a.progress(now)}, nil
}
