package activities

import (
	"context"
	"errors"

	"handover/internal/failpoint"
	"handover/internal/order"
)

// GrantAccessInput asks for all access of an order that is made here.
type GrantAccessInput struct{ order.Key }

// GrantAccessResult is how the order stands then.
type GrantAccessResult struct{ Progress }

// errUnknownKind means that access is pending of a kind that this worker does not know.
var errUnknownKind = errors.New("access is pending of a kind that this worker does not know")

// GrantAccess makes the downloads and licence keys of an order exist. Claiming, writing and finishing are one
// transaction, so it happens whole or not at all, and what is finished is left as it is: a second run issues nothing.
func (a *Activities) GrantAccess(ctx context.Context, in GrantAccessInput) (GrantAccessResult, error) {
	failpoint.Hit("access.before_claim")
	issued, now, err := a.Ledger.GrantLocal(ctx, in.Key, a.localKinds(), func(e order.Entitlement) ([]order.Grant, error) { return a.issue(in.Key, e) })
	if err != nil {
		return GrantAccessResult{}, a.broken(ctx, order.StepAccess, in.Key, err)
	}
	failpoint.Hit("access.granted")

	if now.Access == order.AccessPending {
		return GrantAccessResult{}, a.failed(ctx, order.StepAccess, in.Key, order.ClassRetry, errUnknownKind)
	}
	if issued > 0 {
		a.done(ctx, order.StepAccess, in.Key, string(now.Access))
	}
	return GrantAccessResult{Progress{Snapshot: now}}, nil
}

// localKinds are the kinds of access that are made here.
func (a *Activities) localKinds() []order.AccessKind {
	kinds := make([]order.AccessKind, len(a.Kinds))
	for i, k := range a.Kinds {
		kinds[i] = k.Kind()
	}
	return kinds
}

// testKey begins the licence keys of test sales, so that nobody takes them for sold ones.
const testKey = "TEST-"

// isTest says that an order was not paid with real money.
func (a *Activities) isTest(key order.Key) bool {
	return a.Environments[key.Environment].Mode == order.Test
}

// issue asks the kind that gives this access.
func (a *Activities) issue(key order.Key, e order.Entitlement) ([]order.Grant, error) {
	for _, k := range a.Kinds {
		if k.Kind() != e.Kind {
			continue
		}
		issued, err := k.Issue(e)
		grants := make([]order.Grant, len(issued))
		for i, g := range issued {
			grants[i] = order.Grant{Unit: g.Unit, Secret: g.Secret}
			if g.Secret != "" && a.isTest(key) {
				grants[i].Secret = testKey + g.Secret
			}
		}
		return grants, err
	}
	return nil, errMisconfigured
}
