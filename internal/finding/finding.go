// Package finding is the result of one check. Adapters report findings about their service, and internal/check collects
// them.
package finding

// State is the result of a check, in a word.
type State string

// The states. A failure would lose a sale, or keep a buyer from what was paid for; a warning would not.
const (
	OK      State = "ok"
	Warning State = "warning"
	Failure State = "failure"
)

// Finding is one line about one thing. It holds no secret, nothing of a buyer and nothing that a provider wrote but ids.
type Finding struct {
	Name  string // what was checked: a few words that never change
	State State
	Says  string // the result
	Next  string // the remedy; empty when there is nothing to do
}

// Good is a finding that needs nothing.
func Good(name, says string) Finding { return Finding{Name: name, State: OK, Says: says} }

// Warn is a finding that loses no sale.
func Warn(name, says, next string) Finding {
	return Finding{Name: name, State: Warning, Says: says, Next: next}
}

// Fail is a finding that would lose a sale.
func Fail(name, says, next string) Finding {
	return Finding{Name: name, State: Failure, Says: says, Next: next}
}
