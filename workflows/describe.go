package workflows

import (
	"fmt"
	"strings"

	"handover/internal/flow"

	"go.temporal.io/sdk/workflow"
)

// mark keeps the search attribute true. The straight path has nothing to change, and so costs nothing.
func (d *delivery) mark(ctx workflow.Context) {
	needed := d.needsAttention()
	if !d.in.Attributes || needed == d.marked {
		return
	}
	value := flow.StateAutomatic
	if needed {
		value = flow.StateAttention
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, flow.AttributeState.ValueSet(value)); err == nil {
		d.marked = needed
	}
}

func (d *delivery) needsAttention() bool { return d.Reason != "" }

// describe shows the three facts in the Temporal UI.
func (d *delivery) describe(ctx workflow.Context) {
	text := fmt.Sprintf("| fact | state |\n|---|---|\n| payment | %s |\n| access | %s |\n| email | %s (generation %d) |\n", d.Payment, d.Access, d.Email, d.Generation)
	if d.needsAttention() {
		next := d.Reason.Remedy(d.in.Key.String())
		text += "\n**Needs attention**: " + strings.ReplaceAll(string(d.Reason), "_", " ") + ". " + commandApart(next)
	}
	if d.note != "" {
		text += "\n" + commandApart(strings.ReplaceAll(d.note, "ORDER", d.in.Key.String()))
	}
	workflow.SetCurrentDetails(ctx, text)
}

// commandApart puts the command at the end of a sentence into a block of its own: in running text the Temporal UI turns
// two dashes into one long one, and the command could not be copied.
func commandApart(sentence string) string {
	text, command, found := strings.Cut(sentence, ": starter ")
	if !found {
		return sentence + "\n"
	}
	// The last line of the details is shown by half: an empty one takes its place.
	return text + ":\n\n```\nstarter " + strings.TrimSuffix(command, ".") + "\n```\n\n\u00a0\n"
}
