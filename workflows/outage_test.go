package workflows_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"

	"handover/activities"
	"handover/internal/order"
	"handover/workflows"
)

// outage is a row of the table in docs/failure-modes.md: what one order comes to whose provider is away for so long.
type outage struct {
	provider  string
	away      time.Duration
	delivered bool // without a person
	calls     int  // to the provider
}

// Outages of the providers, on a clock that skips, under the settings as they are delivered.
func TestOutagesComeToWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	for _, row := range []outage{
		{"payment", time.Hour, true, 9},
		{"payment", 6 * time.Hour, true, 29},
		{"payment", day, true, 101},
		{"payment", 3 * day, false, 110},
		{"email", time.Hour, true, 7},
		{"email", 6 * time.Hour, true, 9},
		{"email", 20 * time.Hour, true, 11},
		{"email", day, false, 11},
	} {
		t.Run(fmt.Sprintf("%s/%s", row.provider, row.away), func(t *testing.T) {
			t.Parallel()
			if got := play(t, delivered(), row.provider, row.away); got != row {
				t.Errorf("%+v, want %+v", got, row)
			}
		})
	}
}

// play has one order meet an outage, which begins with its first call.
func play(t *testing.T, cfg workflows.Config, provider string, away time.Duration) outage {
	t.Helper()
	s := newScenario(t)
	s.cfg = cfg
	answer := func() error {
		if s.Now().Sub(s.began) < away {
			return failure(order.ClassRetry)
		}
		return nil
	}
	step := "ConfirmPayment"
	if provider == "payment" {
		s.world.confirm = func(int, activities.ConfirmPaymentInput) (checked, error) {
			return checked{Payment: order.PaymentConfirmed}, answer()
		}
	} else {
		step = "SendAccessEmail"
		s.world.send = func(int, int) (sent, error) { return sent{Email: order.EmailAccepted}, answer() }
	}
	s.run()
	stopped := slices.ContainsFunc(s.trace.all(), func(line string) bool { return strings.HasPrefix(line, "StopStep") })
	return outage{provider, away, !stopped && s.state().Email == order.EmailAccepted, s.world.count(step)}
}

// awayFor is a ledger that cannot be read for some time.
func (s *scenario) awayFor(outage time.Duration) func(int) (known, error) {
	return func(int) (known, error) {
		if s.Now().Sub(s.began) < outage {
			return known{}, temporal.NewApplicationErrorWithOptions("read: ledger", string(order.ClassLedger),
				temporal.ApplicationErrorOptions{NextRetryDelay: time.Minute})
		}
		s.world.read = nil
		s.world.mu.Lock()
		defer s.world.mu.Unlock()
		p := s.world.progress().Snapshot
		return known{Payment: p.Payment, Access: p.Access, Email: p.Email, Generation: p.Generation, Reason: p.Reason}, nil
	}
}

// Our own database is away in the middle of each step, for a day and for three: no budget is spent, nobody is needed, and
// the order is delivered when it is back.
func TestOutageOfTheLedgerHealsWithoutAPerson(t *testing.T) {
	t.Parallel()
	for _, outage := range []time.Duration{day, 3 * day} {
		for _, step := range []string{"ConfirmPayment", "GrantAccess", "SendAccessEmail"} {
			t.Run(step+"/"+outage.String(), func(t *testing.T) {
				t.Parallel()
				s := newScenario(t)
				s.failing(step, 1, failure(order.ClassLedger))
				s.world.read = s.awayFor(outage)
				var during string
				s.at(outage/2, func() { during = s.details() })
				s.run()
				want := []string{"ConfirmPayment", "GrantAccess", "SendAccessEmail 1"}
				i := slices.IndexFunc(want, func(line string) bool { return strings.HasPrefix(line, step) })
				var reads int
				var rest []string
				for _, line := range s.trace.all() {
					switch {
					case line == "ReadOrder":
						reads++
					case !strings.HasPrefix(line, "timer") || line == "timer 720h0m0s":
						rest = append(rest, line)
					}
				}
				want = append(slices.Insert(want, i, want[i]), "timer 720h0m0s")
				if diff := cmp.Diff(want, rest); diff != "" {
					t.Errorf("commands (-want +got):\n%s", diff)
				}
				if s.open() || s.world.reason != "" || s.state().Email != order.EmailAccepted {
					t.Errorf("open %v, %+v", s.open(), s.state())
				}
				if want := int(outage/day) + 1; reads > want {
					t.Errorf("the history holds %d reads, want at most %d", reads, want)
				}
				if !strings.Contains(during, "The database does not respond") {
					t.Errorf("the details do not say what the order waits for:\n%s", during)
				}
			})
		}
	}
}
