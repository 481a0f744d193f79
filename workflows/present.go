package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"handover/internal/flow"
	"handover/internal/order"
)

// shown is what the Temporal UI shows of a run already.
type shown struct {
	attention bool // by the search attribute
	details   string
}

// present keeps the search attribute and the current details true. The straight path changes no attribute, because each
// change costs.
func (d *delivery) present(ctx workflow.Context) {
	reason := d.state.reason()
	if needed := reason != ""; d.in.Attributes && needed != d.attention {
		value := flow.StateAutomatic
		if needed {
			value = flow.StateAttention
		}
		if err := workflow.UpsertTypedSearchAttributes(ctx, flow.AttributeState.ValueSet(value)); err == nil {
			d.attention = needed
		}
	}
	if text := details(d.in.Key, d.state, reason); text != d.details {
		workflow.SetCurrentDetails(ctx, text)
		d.details = text
	}
}

// details are the three facts, and what a person can do.
func details(key order.Key, s *state, reason order.Reason) string {
	text := fmt.Sprintf("| fact | state |\n|---|---|\n| payment | %s |\n| access | %s |\n| email | %s (generation %d) |\n",
		s.Payment, s.Access, s.Email, s.Generation)
	if reason != "" {
		text += "\n**Needs attention**: " + reason.Title() + ". " + commandApart(reason.Remedy(key.String()))
	}
	if s.outages > 0 {
		text += "\nThe database does not respond. Everything that is pending goes on when it does.\n"
	}
	if s.note != "" {
		text += "\n" + commandApart(strings.ReplaceAll(s.note, "ORDER", key.String()))
	}
	return text
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
