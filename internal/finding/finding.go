// Package finding is what a look at one thing comes to. Adapters say it of their service, and the check puts it together.
package finding

// State says how a thing is.
type State string

// The states. A failure would lose a sale, or keep a buyer from what was paid for; a warning would not.
const (
	OK      State = "ok"
	Warning State = "warning"
	Failure State = "failure"
)

// Finding is one line about one thing. It holds no secret, nothing of a buyer and nothing that a provider wrote but ids.
type Finding struct {
	Name  string // what was looked at: a few words that never change
	State State
	Says  string // how it is
	Next  string // what to do about it; empty when there is nothing to do
}

// Good is a thing that is as it has to be.
func Good(name, says string) Finding { return Finding{Name: name, State: OK, Says: says} }

// Warn is a thing that loses no sale.
func Warn(name, says, next string) Finding {
	return Finding{Name: name, State: Warning, Says: says, Next: next}
}

// Fail is a thing that would lose a sale.
func Fail(name, says, next string) Finding {
	return Finding{Name: name, State: Failure, Says: says, Next: next}
}
