package activities

import (
	"context"
	"errors"

	"handover/internal/failpoint"
	"handover/internal/ledger"
	"handover/internal/order"
)

type accessLedger interface {
	GrantLocal(ctx context.Context, key order.Key, kinds []order.AccessKind, issue ledger.Issuer) (int, order.Snapshot, error)
}

// GrantAccessInput asks for all access of an order that is wholly ours.
type GrantAccessInput struct {
	Order order.Key `json:"order"`
}

// GrantAccessResult is what the buyer can open now.
type GrantAccessResult struct {
	Access order.AccessState `json:"access"`
}

// errNotGiven means that access is owed of which this worker can make nothing.
var errNotGiven = errors.New("access is owed of a kind that this worker does not know")

// GrantAccess makes the downloads and licence keys of an order exist. Claiming, writing and finishing are one
// transaction, so it happens whole or not at all, and what is finished is left as it is: a second run makes nothing.
func (a *Activities) GrantAccess(ctx context.Context, in GrantAccessInput) (GrantAccessResult, error) {
	failpoint.Hit("access.before_claim")
	made, _, err := a.Ledger.GrantLocal(ctx, in.Order, a.ownKinds(), a.make)
	if err != nil {
		return GrantAccessResult{}, a.failed(ctx, stepAccess, in.Order, judge(err).class, err)
	}
	if made == 0 {
		// Somebody was here before: what that came to is for the ledger to say.
		view, err := a.Ledger.Order(ctx, in.Order)
		if err != nil {
			return GrantAccessResult{}, a.failed(ctx, stepAccess, in.Order, judge(err).class, err)
		}
		if view.Facts.Access == order.AccessPending {
			return GrantAccessResult{}, a.failed(ctx, stepAccess, in.Order, order.ClassRetry, errNotGiven)
		}
		return GrantAccessResult{Access: view.Facts.Access}, nil
	}
	failpoint.Hit("access.granted")
	a.done(ctx, stepAccess, in.Order, string(order.AccessGranted))
	return GrantAccessResult{Access: order.AccessGranted}, nil
}

// ownKinds are the kinds of access that are wholly ours.
func (a *Activities) ownKinds() []order.AccessKind {
	kinds := make([]order.AccessKind, len(a.Kinds))
	for i, k := range a.Kinds {
		kinds[i] = k.Kind()
	}
	return kinds
}

// make asks the kind that gives this access.
func (a *Activities) make(due order.Entitlement) ([]order.Grant, error) {
	for _, k := range a.Kinds {
		if k.Kind() != due.Kind {
			continue
		}
		made, err := k.Issue(due)
		grants := make([]order.Grant, len(made))
		for i, m := range made {
			grants[i] = order.Grant{Unit: m.Unit, Secret: m.Secret}
		}
		return grants, err
	}
	return nil, errMisconfigured
}
