package ledger_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/ledger"
	"handover/internal/order"
)

func TestConcurrentGrantsGiveEachUnitOnce(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay()
	finished := make([]int, 20)
	errs := make([]error, 20)
	atOnce(20, func(i int) { finished[i], errs[i] = b.GrantLocal(t.Context(), b.key, ownKinds, makeGuide) })
	total := 0
	for i, err := range errs {
		b.must(err)
		total += finished[i]
	}
	if total != 2 {
		t.Errorf("%d pieces of access were finished, want 2", total)
	}
	v := b.view()
	kinds := map[order.AccessKind]int{}
	secrets := map[string]bool{}
	for _, g := range v.Grants {
		kinds[g.Kind]++
		if g.Kind == "license" {
			secrets[g.Secret] = true
		}
	}
	if diff := cmp.Diff(map[order.AccessKind]int{"download": 1, "license": 2}, kinds); diff != "" || len(secrets) != 2 {
		t.Errorf("%d different keys; grants by kind (-want +got):\n%s", len(secrets), diff)
	}
	if v.Facts.Access != order.AccessGranted {
		t.Errorf("access is %s", v.Facts.Access)
	}
}

func TestSecondRunMakesNothing(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	before := b.view().Grants
	n, err := b.GrantLocal(t.Context(), b.key, ownKinds, func(order.Entitlement) ([]order.Grant, error) {
		t.Error("a finished piece was made again")
		return nil, nil
	})
	if n != 0 || err != nil {
		t.Errorf("finished %d, %v", n, err)
	}
	if diff := cmp.Diff(before, b.view().Grants); diff != "" {
		t.Errorf("the grants changed (-before +after):\n%s", diff)
	}
}

func TestFailingMakeLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay()
	cause := errors.New("no key could be made")
	n, err := b.GrantLocal(t.Context(), b.key, ownKinds, func(due order.Entitlement) ([]order.Grant, error) {
		if due.Kind == "license" {
			return nil, cause
		}
		return makeGuide(due)
	})
	if n != 0 || !errors.Is(err, cause) {
		t.Errorf("finished %d, %v", n, err)
	}
	if v := b.view(); len(v.Grants) != 0 || v.Facts.Access != order.AccessPending {
		t.Errorf("%d grants are left, access is %s", len(v.Grants), v.Facts.Access)
	}
	if b.give(); b.view().Facts.Access != order.AccessGranted {
		t.Errorf("the next attempt: access is %s", b.view().Facts.Access)
	}
}

func TestOnlyOurOwnKindsAreMade(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay()
	n, err := b.GrantLocal(t.Context(), b.key, ownKinds[:1], makeGuide)
	b.must(err)
	if v := b.view(); n != 1 || len(v.Grants) != 1 || v.Facts.Access != order.AccessPending {
		t.Errorf("finished %d with %d grants, access %s", n, len(v.Grants), v.Facts.Access)
	}
}

func TestStoppedAccessWaitsForAPerson(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay()
	b.must(b.StopAccess(t.Context(), b.key, order.ClassExhausted, order.ReasonAccessStopped))
	n, err := b.GrantLocal(t.Context(), b.key, ownKinds, makeGuide)
	b.must(err)
	v := b.view()
	if n != 0 || v.Facts.Access != order.AccessAttention || v.Reason != order.ReasonAccessStopped || v.Class != order.ClassExhausted {
		t.Errorf("finished %d; access %s, %q (%s)", n, v.Facts.Access, v.Reason, v.Class)
	}
	if err := b.StopAccess(t.Context(), b.key, order.ClassExhausted, order.ReasonAccessStopped); !errors.Is(err, ledger.ErrLeaseLost) {
		t.Errorf("stopped a second time: %v", err)
	}
}

func TestGrantedAccessCannotBeStopped(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	if err := b.StopAccess(t.Context(), b.key, order.ClassExhausted, order.ReasonAccessStopped); !errors.Is(err, ledger.ErrLeaseLost) {
		t.Errorf("got %v, want ErrLost", err)
	}
	if v := b.view(); v.Facts.Access != order.AccessGranted || v.Reason != "" {
		t.Errorf("access %s, %q", v.Facts.Access, v.Reason)
	}
}
