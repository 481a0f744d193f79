package cli

import (
	"errors"
	"fmt"

	"handover/internal/order"
)

// Outcomes beside those of order's decisions.
const (
	outcomeWaiting order.Outcome = "waiting" // no worker has answered yet
	outcomeChecked order.Outcome = "checked" // the provider was asked again
	outcomeDryRun  order.Outcome = "dry_run" // nothing was changed
	outcomeAdded   order.Outcome = "added"   // something more is owed on the order
)

// answer is the result of a command for one order, as JSON. Its sentence is in texts.go.
type answer struct {
	Order      string           `json:"order"`
	Outcome    order.Outcome    `json:"outcome"`
	Refusal    order.Refusal    `json:"refusal,omitempty"`
	Generation int              `json:"generation,omitempty"`
	Email      order.EmailState `json:"email,omitempty"` // of resend and relink: the state of that generation
	Added      []string         `json:"added,omitempty"` // pieces of access, by what the catalogue gives today
	*replayed

	undispatched bool // that it waits for Temporal is said already
	applied      bool // of revoke and restore: the access is as it has to be
}

// replayed is what replay adds.
type replayed struct {
	Payment order.PaymentState `json:"payment"`
	Reason  order.Reason       `json:"reason"`
	Looked  bool               `json:"looked"` // false when no worker has checked yet
}

// report prints answers: as JSON in the given shape, or one sentence each. A refusal goes to standard error in both, so
// that one stream has all of it, and makes the command fail.
func (c *console) report(asJSON bool, shape any, answers ...answer) error {
	if asJSON {
		if err := c.printJSON(shape); err != nil {
			return err
		}
	}

	var refused []string
	for _, a := range answers {
		switch {
		case a.Outcome == order.OutcomeRefused:
			refused = append(refused, a.sentence())
		case !asJSON && !a.undispatched:
			fmt.Fprintln(c.Out, a.sentence())
		}
	}

	switch {
	case len(refused) == 0:
		return nil
	case len(answers) == 1:
		return errors.New(refused[0])
	}
	for _, sentence := range refused {
		fmt.Fprintln(c.Err, sentence)
	}
	return fmt.Errorf("%d of %d were refused", len(refused), len(answers))
}
