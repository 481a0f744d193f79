package conventions

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"handover/internal/order"
)

// The reasons are written in the code, which prints them, and in operations.md, where people look them up.
func TestTheReasonsInTheDocumentsAreThoseInTheCode(t *testing.T) {
	t.Parallel()
	_, section, found := strings.Cut(read(t, "docs/operations.md"), "## Reasons for attention\n")
	section, _, ends := strings.Cut(section, "\n## ")
	if !found || !ends {
		t.Fatal("docs/operations.md has no section about the reasons")
	}
	documented := map[string]bool{}
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| `") {
			documented[strings.TrimSpace(line)] = true
		}
	}

	for _, r := range order.Reasons() {
		row := fmt.Sprintf("| `%s` | %s | %s | %s |", r, cmp.Or(string(r.Step()), "–"), r.Title(), r.Remedy("ORDER"))
		if !documented[row] {
			t.Errorf("docs/operations.md lacks the row\n%s", row)
		}
		delete(documented, row)
	}
	for row := range documented {
		t.Errorf("no reason in the code has the row\n%s", row)
	}
}

func TestATitleIsAShortSentenceWithoutItsFullStop(t *testing.T) {
	t.Parallel()
	for _, r := range order.Reasons() {
		if title := r.Title(); title == "" || len(title) > 60 || strings.ContainsAny(title, "._:") {
			t.Errorf("%s has the title %q", r, title)
		}
	}
}
