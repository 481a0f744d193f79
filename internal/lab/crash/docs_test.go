package crash_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handover/internal/lab/harness"
)

// Every point at which a process is killed has its row, under the name that its cases have.
func TestEveryPlaceToDieHasARowInTheFailureModes(t *testing.T) {
	t.Parallel()
	text := failureModes(t)
	for _, p := range places {
		if !strings.Contains(text, "\n| the worker, "+p.row+" |") {
			t.Errorf("%s: no row begins with %q", p.point, "the worker, "+p.row)
		}
	}
	for _, d := range doorways {
		if !strings.Contains(text, "\n| the starter, "+d.row+" |") {
			t.Errorf("%s: no row begins with %q", d.point, "the starter, "+d.row)
		}
	}
}

func failureModes(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(harness.Root(), "docs", "failure-modes.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
