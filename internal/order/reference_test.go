package order_test

import (
	"testing"

	"handover/internal/order"
)

func TestAReferenceIsReadAsAPersonTypesIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]order.Reference{
		"HO-7K3M9QXT":   "HO-7K3M9QXT",
		"ho-7k3m9qxt":   "HO-7K3M9QXT",
		" HO7K3M9QXT\n": "HO-7K3M9QXT",
		"HO-OIL00000":   "HO-01100000",
	} {
		if got, ok := order.ParseReference(text); !ok || got != want {
			t.Errorf("%q is read as %q, %v; want %q", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "HO-", "HO-7K3M9QX", "HO-7K3M9QXTT", "HO-7K3M9QXU", "7K3M9QXT", "live/cs_live_a1", "HO-7K3M 9QX", "HO--7K3M9QX"} {
		if got, ok := order.ParseReference(text); ok {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}
