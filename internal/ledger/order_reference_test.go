package ledger_test

import (
	"errors"
	"testing"

	"handover/internal/ledger"
	"handover/internal/order"
)

func TestEveryOrderHasAReferenceOfItsOwn(t *testing.T) {
	t.Parallel()
	f := newEnv(t)
	seen := map[order.Reference]bool{}
	for range 50 {
		o := f.another()
		o.store(o.event("1"))
		reference := o.view().Reference
		if parsed, ok := order.ParseReference(string(reference)); !ok || parsed != reference || seen[reference] {
			t.Fatalf("reference %q: valid %v, given before %v", reference, ok, seen[reference])
		}
		seen[reference] = true
		if key, err := o.KeyOf(t.Context(), reference); err != nil || key != o.key {
			t.Errorf("%s names %v, %v; want %v", reference, key, err, o.key)
		}
	}
	if _, err := f.KeyOf(t.Context(), "HO-ZZZZZZZZ"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("an unknown reference: %v, want ErrNotFound", err)
	}
}
