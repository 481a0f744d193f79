// Package check checks a shop's configuration against the real services: what would lose a sale, what would not but should
// be known, and the remedy for each. It only reads, and checks all that can be checked, whatever else has failed.
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

// One check takes at most limit, and all of them at most total, also where a call does not honour its context.
const (
	limit = 10 * time.Second
	total = 25 * time.Second
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

// Shop is what is checked.
type Shop struct {
	Config  *config.Config // nil when it cannot be read
	Problem error          // why it cannot, or what is wrong with the process's settings
	// DatabaseURL and TaskQueue are settings of the process. An empty URL is reported and not opened.
	DatabaseURL string
	TaskQueue   string
	// TemporalAddress is where Temporal is, and TemporalTLS whether the way there is encrypted.
	TemporalAddress string
	TemporalTLS     bool

	OpenPayment func(config.Environment, config.Step) (payment.Provider, error)
	OpenSender  func(config.Email, config.Step) (email.Sender, error)
	// OpenTemporal connects lazily. The caller of Run has nothing to close.
	OpenTemporal func() (c client.Client, namespace string, err error)
}

// part is one of the checks that run side by side.
type part struct {
	name string
	run  func(context.Context) []Check
}

// Run runs all checks at once.
func Run(ctx context.Context, s Shop) Report {
	ctx, cancel := context.WithTimeout(ctx, total)
	defer cancel()
	parts := s.parts()
	results := make([]chan []Check, len(parts))
	for i, p := range parts {
		results[i] = make(chan []Check, 1)
		go func() { results[i] <- p.run(ctx) }()
	}
	r := Report{Checks: []Check{}}
	// A call that honours its context is given the time to return.
	late, cancelLate := context.WithTimeout(context.WithoutCancel(ctx), total+time.Second)
	defer cancelLate()
	for i, p := range parts {
		r.Checks = append(r.Checks, await(late, p, results[i])...)
	}
	r.OK = r.Failures() == 0
	return r
}

// await prefers a result that is there over the time that is up.
func await(late context.Context, p part, result chan []Check) []Check {
	select {
	case found := <-result:
		return found
	case <-late.Done():
	}
	select {
	case found := <-result:
		return found
	default:
		return []Check{fail(p.name, "there was no response", "Is it reachable from this machine? Run starter check again.")}
	}
}

// parts are in the sequence in which their results are printed.
func (s Shop) parts() []part {
	parts := []part{
		{nameConfiguration, func(context.Context) []Check { return append(s.configuration(), s.exposed()...) }},
		{nameDatabase, s.database},
		{nameTemporal, s.temporal},
	}
	if s.Config == nil {
		return parts
	}
	return slices.Insert(parts, 1,
		part{nameAddress, s.publicAddress},
		part{payment.FindingKey, s.payments},
		part{nameFiles, s.files},
		part{email.FindingKey, s.sender})
}

// checksOf are findings about an environment, or about none.
func checksOf(environment string, findings ...finding.Finding) []Check {
	list := make([]Check, len(findings))
	for i, f := range findings {
		list[i] = Check{Name: f.Name, Environment: environment, State: f.State, Says: f.Says, Next: f.Next}
	}
	return list
}

func good(name, says string) Check       { return checksOf("", finding.Good(name, says))[0] }
func warn(name, says, next string) Check { return checksOf("", finding.Warn(name, says, next))[0] }
func fail(name, says, next string) Check { return checksOf("", finding.Fail(name, says, next))[0] }

// of says which environment a check is about.
func (c Check) of(environment string) Check {
	c.Environment = environment
	return c
}
