package workflows_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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
