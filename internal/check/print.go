package check

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"handover/internal/finding"
	"handover/internal/text"
)

// marks are as wide as each other, so that what is wrong stands out in a column.
var marks = map[finding.State]string{finding.OK: "ok      ", finding.Warning: "warning ", finding.Failure: "FAILURE "}

// Print writes the report for a person: a line for each check and, where there is something to do, one that says what.
func Print(w io.Writer, r Report) {
	width := 0
	for _, c := range r.Checks {
		width = max(width, utf8.RuneCountInString(c.title()))
	}
	for _, c := range r.Checks {
		indent := "\n" + strings.Repeat(" ", len(marks[c.State])+width+2)
		pad := strings.Repeat(" ", width-utf8.RuneCountInString(c.title()))
		fmt.Fprintf(w, "%s%s%s  %s\n", marks[c.State], c.title(), pad, strings.ReplaceAll(c.Says, "\n", indent))
		if c.Next != "" {
			fmt.Fprintf(w, "%s-> %s\n", indent[1:], c.Next)
		}
	}
	failures, warnings := r.Failures(), r.Warnings()
	switch {
	case failures > 0:
		fmt.Fprintf(w, "\n%s, %s. A failure would lose a sale, or keep a buyer from what was paid for.\n", text.Count(failures, "failure"), text.Count(warnings, "warning"))
	case warnings > 0:
		fmt.Fprintf(w, "\nNothing would lose a sale. %s.\n", text.Count(warnings, "warning"))
	default:
		fmt.Fprintf(w, "\nAll checks passed.\n")
	}
}

func (c Check) title() string {
	return strings.TrimPrefix(cmp.Or(c.Environment, "")+": "+c.Name, ": ")
}
