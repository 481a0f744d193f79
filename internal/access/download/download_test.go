package download_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/access"
	"handover/internal/access/download"
	"handover/internal/order"
)

func TestDownloadIsGivenOnceHoweverManyUnits(t *testing.T) {
	t.Parallel()
	for _, units := range []int64{1, 3, 1000} {
		got, err := download.New().Issue(order.Entitlement{Product: "guide", Kind: download.Kind, File: "guide.pdf", Units: units})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]access.Issued{{Unit: 1}}, got); diff != "" {
			t.Errorf("%d units (-want +got):\n%s", units, diff)
		}
	}
}
