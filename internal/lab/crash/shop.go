// Package crash is the harness as the crash tests hold it: what cannot be done fails the test, and everything is gone at
// its end. Processes are killed, frozen and started again; what counts in the end is what the sandbox says it did.
package crash

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"handover/internal/lab/await"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/lab/stack"
	"handover/internal/lab/stack/testenv"
	"handover/internal/order"
)

// Options differ from test to test.
type Options struct {
	// DatabaseURL and TemporalAddress are servers of the test's own, where it stops or kills them; empty for the shared ones.
	DatabaseURL     string
	TemporalAddress string
	// Config is added to the configuration, such as "[steps.email]\nfirst_wait = \"1s\"\n".
	Config string
	// Sandbox changes the sandbox.
	Sandbox func(*sandbox.Config)
	// Idle leaves starter and worker to the test to start.
	Idle bool
	// Failpoints builds starter and worker so that they can be held at failpoints: see Arm and At.
	Failpoints bool
}

// Shop is a shop under test.
type Shop struct {
	*harness.Shop
	t testing.TB
}

// Open sets up a shop and starts it. Everything is gone at the end of the test.
func Open(t testing.TB, o Options) *Shop {
	t.Helper()
	c := harness.Config{
		Dir: t.TempDir(), DatabaseURL: o.DatabaseURL, TemporalAddress: o.TemporalAddress, TaskQueue: testenv.TaskQueue(t),
		TOML: o.Config, Sandbox: o.Sandbox,
	}
	if o.Failpoints {
		c.Variant = harness.Holdable
	}
	if c.DatabaseURL == "" {
		c.DatabaseURL = testenv.Database(t)
	}
	if c.TemporalAddress == "" {
		c.TemporalAddress = testenv.TemporalAddress(t)
	}
	shop, err := harness.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		shop.Close()
		if t.Failed() {
			t.Log(shop.LogTails())
		}
	})

	s := &Shop{Shop: shop, t: t}
	if !o.Idle {
		s.StartStarter()
		s.StartWorker()
	}
	return s
}

// In is the shop for a subtest: what goes wrong there is the subtest's failure and not the whole test's.
func (s *Shop) In(t testing.TB) *Shop { return &Shop{Shop: s.Shop, t: t} }

// StartStarter starts a starter and waits until it serves.
func (s *Shop) StartStarter() { s.t.Helper(); s.must(s.Shop.StartStarter(s.t.Context())) }

// StartWorker starts a worker and waits until it polls.
func (s *Shop) StartWorker() { s.t.Helper(); s.must(s.Shop.StartWorker(s.t.Context())) }

// StartAnotherStarter starts a second starter beside the first, on addresses of its own.
func (s *Shop) StartAnotherStarter() (p *stack.Process, publicURL string) {
	s.t.Helper()
	p, publicURL, err := s.Shop.StartAnotherStarter(s.t.Context())
	s.must(err)
	return p, publicURL
}

// StartAnotherWorker starts a second worker beside the first.
func (s *Shop) StartAnotherWorker() *stack.Process {
	s.t.Helper()
	p, err := s.Shop.StartAnotherWorker(s.t.Context())
	s.must(err)
	return p
}

// Reconfigure changes the text of the configuration; it counts from the next start of a process.
func (s *Shop) Reconfigure(from, to string) { s.t.Helper(); s.must(s.Shop.Reconfigure(from, to)) }

// Command runs the starter's command line as an operator does.
func (s *Shop) Command(arguments ...string) (out, errs string, code int) {
	s.t.Helper()
	out, errs, code, err := s.Shop.Command(s.t.Context(), arguments...)
	s.must(err)
	return out, errs, code
}

// Log is everything that a process has logged so far.
func (s *Shop) Log(name string) string {
	s.t.Helper()
	text, err := s.Shop.Log(name)
	s.must(err)
	return text
}

// At waits until some process is held at the failpoint.
func (s *Shop) At(point string) *harness.Held {
	s.t.Helper()
	held, err := s.Hit(s.t.Context(), point)
	s.must(err)
	return held
}

// Eventually waits until the condition holds, or fails the test.
func (s *Shop) Eventually(what string, holds func() bool) { s.t.Helper(); await.True(s.t, what, holds) }

// Status is an order as the order page shows it; empty while it does not answer.
func (s *Shop) Status(session string) order.StatusJSON {
	s.t.Helper()
	status, _ := harness.Status(s.t.Context(), s.PublicURL, "test/"+session)
	return status
}

// AwaitState waits until the order page says so.
func (s *Shop) AwaitState(session string, state order.CustomerState) {
	s.t.Helper()
	await.Equal(s.t, "the order page of "+session, state, func() order.CustomerState { return s.Status(session).CustomerState })
}

// Database is a connection to the shop's database.
func (s *Shop) Database() *pgx.Conn {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.DatabaseURL)
	s.must(err)
	s.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func (s *Shop) query(ask func(context.Context, *pgx.Conn) error) {
	s.t.Helper()
	s.must(s.Query(s.t.Context(), ask))
}

func (s *Shop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}
