// Package check holds a shop's configuration against the real services: what would lose a sale, what would not but should
// be known, and what to do about each. It only reads, and everything that can be looked at is, whatever else has failed.
package check

import (
	"context"
	"slices"
	"time"

	"go.temporal.io/sdk/client"

	"handover/internal/config"
	"handover/internal/email"
	"handover/internal/finding"
	"handover/internal/payment"
)

// The time that things may take. No look at one thing takes longer than limit; nothing is waited for longer than patience,
// also where a call does not heed its context.
const (
	limit    = 10 * time.Second
	patience = 25 * time.Second
)

// Check is one line of the answer.
type Check struct {
	Name        string        `json:"name"`
	Environment string        `json:"environment,omitempty"`
	State       finding.State `json:"state"`
	Says        string        `json:"says"`
	Next        string        `json:"next"`
}

// Report is the whole answer.
type Report struct {
	OK     bool    `json:"ok"` // nothing in it would lose a sale
	Checks []Check `json:"checks"`
}

// Failures counts the checks that would lose a sale.
func (r Report) Failures() int { return r.count(finding.Failure) }

// Warnings counts the checks that would not, and are not as they should be.
func (r Report) Warnings() int { return r.count(finding.Warning) }

func (r Report) count(state finding.State) (n int) {
	for _, c := range r.Checks {
		if c.State == state {
			n++
		}
	}
	return n
}

// Shop is what is looked at.
type Shop struct {
	Config  *config.Config // nil when it cannot be read
	Problem error          // why it cannot, or what is wrong with the process's settings
	// DatabaseURL and TaskQueue are settings of the process. An empty URL is not looked at.
	DatabaseURL string
	TaskQueue   string

	OpenPayment func(config.Environment, config.Step) (payment.Provider, error)
	OpenSender  func(config.Email, config.Step) (email.Sender, error)
	// OpenTemporal connects lazily. The caller of Run has nothing to close.
	OpenTemporal func() (c client.Client, namespace string, err error)
}

// look is one part of the whole, which runs beside the others.
type look struct {
	name string
	run  func(context.Context) []Check
}

// Run runs all checks at once.
func Run(ctx context.Context, s Shop) Report {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	looks := s.looks()
	results := make([]chan []Check, len(looks))
	for i, l := range looks {
		results[i] = make(chan []Check, 1)
		go func() { results[i] <- l.run(ctx) }()
	}
	r := Report{Checks: []Check{}}
	// A call that heeds its context is given the time to say that it has ended.
	late, cancelLate := context.WithTimeout(context.WithoutCancel(ctx), patience+time.Second)
	defer cancelLate()
	for i, l := range looks {
		r.Checks = append(r.Checks, await(late, l, results[i])...)
	}
	r.OK = r.Failures() == 0
	return r
}

// await prefers a result that is there over the time that is up.
func await(late context.Context, l look, result chan []Check) []Check {
	select {
	case found := <-result:
		return found
	case <-late.Done():
	}
	select {
	case found := <-result:
		return found
	default:
		return []Check{fail(l.name, "there was no answer", "Is it reachable from this machine? Run starter check again.")}
	}
}

// looks are in the order in which their results are told.
func (s Shop) looks() []look {
	looks := []look{
		{nameConfiguration, func(context.Context) []Check { return s.configuration() }},
		{nameDatabase, s.database},
		{nameTemporal, s.temporal},
	}
	if s.Config == nil {
		return looks
	}
	return slices.Insert(looks, 1,
		look{nameAddress, s.publicAddress},
		look{payment.FindingKey, s.payments},
		look{nameFiles, s.files},
		look{email.FindingKey, s.sender})
}

// told are findings about an environment, or about none.
func told(environment string, findings ...finding.Finding) []Check {
	list := make([]Check, len(findings))
	for i, f := range findings {
		list[i] = Check{Name: f.Name, Environment: environment, State: f.State, Says: f.Says, Next: f.Next}
	}
	return list
}

func good(name, says string) Check       { return told("", finding.Good(name, says))[0] }
func warn(name, says, next string) Check { return told("", finding.Warn(name, says, next))[0] }
func fail(name, says, next string) Check { return told("", finding.Fail(name, says, next))[0] }

// of says which environment a check is about.
func (c Check) of(environment string) Check {
	c.Environment = environment
	return c
}
