package registry_test

import (
	"slices"
	"testing"

	"handover/internal/access/registry"
	"handover/internal/order"
)

// Every kind keeps the promises that the ledger builds on.
func TestOwnKindsConform(t *testing.T) {
	t.Parallel()
	names := registry.Kinds().Names()
	slices.Sort(names)
	if !slices.Equal(names, []string{"download", "license"}) {
		t.Errorf("kinds: %v", names)
	}
	for _, kind := range registry.Kinds().Local() {
		t.Run(string(kind.Kind()), func(t *testing.T) {
			t.Parallel()
			for _, units := range []int64{1, 2, 7} {
				made, err := kind.Issue(order.Entitlement{Product: "p", Kind: kind.Kind(), File: "f", Units: units})
				if err != nil {
					t.Fatal(err)
				}
				if n := int64(len(made)); n != 1 && n != units {
					t.Errorf("%d units made %d grants; want one, or one a unit", units, n)
				}
				for i, m := range made {
					if m.Unit != int64(i)+1 {
						t.Errorf("grant %d has unit %d; units count from 1", i, m.Unit)
					}
				}
			}
		})
	}
}
