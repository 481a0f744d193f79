package crash_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/lab/stack"
	"handover/internal/lab/stack/testenv"
	"handover/internal/order"
)

// quick makes a lost attempt come again soon: one call may take two seconds, and so one attempt seven.
const quick = `
[steps.payment]
first_wait   = "200ms"
call_timeout = "2s"
[steps.email]
first_wait   = "200ms"
call_timeout = "2s"
`

func TestAWorkerKilledAfterTheEmailWasAcceptedSendsTheSameBytesUnderTheSameKey(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: quick})
	f := s.Fault(sandbox.Fault{Target: "resend.send", Mode: "hold", Times: 1})
	session := s.Buy(nil)
	s.AwaitFault("waiting", f, 1) // accepted, and the answer is kept
	s.Worker.Kill()
	s.Sandbox.Release()
	s.Reconfigure("Crash Shop", "Renamed Shop") // a deploy in between must not change the message
	s.Reconfigure(`name    = "The Guide"`, `name    = "The Second Edition"`)
	s.StartWorker()
	s.SettledOnce(session, 1)
	key := s.Sandbox.Counts().Emails.ByKey[harness.EmailKey(session, 1)]
	if key.Calls < 2 || key.Accepted != 1 || key.Bodies != 1 {
		t.Errorf("%d calls, %d accepted, %d different bodies; want at least 2, 1, 1", key.Calls, key.Accepted, key.Bodies)
	}
}

func TestAnAnswerThatIsLostAfterTheEmailWasAcceptedIsAskedForAgain(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: quick})
	s.Fault(sandbox.Fault{Target: "resend.send", Mode: "drop", Times: 2})
	session := s.Buy(nil)
	s.SettledOnce(session, 1)
	if got := s.Sandbox.Counts().Emails.ByKey[harness.EmailKey(session, 1)].Calls; got != 3 {
		t.Errorf("%d calls, want 3", got)
	}
}

// A worker that is stopped in the middle of a call, for longer than its claim lasts, and then wakes up, changes nothing
// that its replacement wrote.
func TestAWorkerThatWakesUpLateChangesNothing(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: quick})
	f := s.Fault(sandbox.Fault{Target: "resend.send", Mode: "hold", Times: 1})
	session := s.Buy(nil)
	s.AwaitFault("waiting", f, 1)
	late := s.Worker
	freeze(t, s)
	s.StartAnotherWorker()
	s.SettledOnce(session, 1)
	before, said := s.Rows(), len(s.Log("worker"))
	s.Sandbox.Release()
	if err := late.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.Eventually("the late attempt has ended", func() bool { return strings.Contains(s.Log("worker")[said:], session) })
	if diff := cmp.Diff(before, s.Rows()); diff != "" {
		t.Errorf("the late worker changed the ledger (-before +after):\n%s", diff)
	}
	s.SettledOnce(session, 1)
}

func TestAStarterKilledBetweenStoringAndStartingLosesNothing(t *testing.T) {
	t.Parallel()
	server := privateTemporal(t)
	s := crash.Open(t, crash.Options{Config: quick, TemporalAddress: server.Address()})
	// A frozen Temporal keeps the starter between its commit and its start.
	if err := server.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	session := s.Checkout(nil)
	answered := make(chan int, 1)
	go func() { answered <- s.Report(session, harness.Completed, "") }()
	s.Eventually("the event is stored", func() bool {
		out, _, _ := s.Command("list", "--pending", "--json")
		return out != "[]\n" && out != ""
	})
	s.Starter.Kill()
	<-answered
	if err := server.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.StartStarter()
	s.SettledOnce(session, 1)
}

func TestFiftyWebhooksWhileTemporalIsAwayAreDeliveredOnceWhenItIsBack(t *testing.T) {
	t.Parallel()
	server := privateTemporal(t)
	s := crash.Open(t, crash.Options{Config: quick, TemporalAddress: server.Address()})
	server.Kill()
	sessions := make([]string, 50)
	var calls sync.WaitGroup
	for i := range sessions {
		sessions[i] = s.Checkout(nil)
		calls.Go(func() {
			if status := s.Report(sessions[i], harness.Completed, fmt.Sprintf("evt_away%d", i)); status != 200 {
				t.Errorf("a webhook was answered %d while Temporal was away", status)
			}
		})
	}
	calls.Wait()
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, session := range sessions {
		s.SettledOnce(session, 1)
	}
}

func TestWhilePostgresIsAwayWebhooksAreRefusedAndTheProvidersRetriesDeliverAll(t *testing.T) {
	t.Parallel()
	server := privatePostgres(t)
	if err := server.CreateDatabase(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	s := crash.Open(t, crash.Options{Config: quick, DatabaseURL: server.URL("shop")})
	before := s.Buy(nil)
	s.SettledOnce(before, 1)
	server.Kill()
	var sessions []string
	for range 5 {
		session := s.Checkout(nil)
		sessions = append(sessions, session)
		if got := s.Deliver(sandbox.EventRequest{Type: harness.Completed, Session: session, Retry: true}).Statuses[0]; got != http.StatusServiceUnavailable {
			t.Errorf("a webhook was answered %d while Postgres was away, want 503", got)
		}
	}
	if status, _ := get(t, s.PublicURL+"/orders/test/"+before); status != http.StatusServiceUnavailable {
		t.Errorf("the order page was answered %d while Postgres was away, want 503", status)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, session := range sessions {
		s.SettledOnce(session, 1)
	}
	s.AwaitState(before, order.CustomerReady)
}

func TestAFrozenPostgresIsRefusedWithinABoundedTime(t *testing.T) {
	t.Parallel()
	server := privatePostgres(t)
	if err := server.CreateDatabase(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	s := crash.Open(t, crash.Options{Config: quick, DatabaseURL: server.URL("shop")})
	s.SettledOnce(s.Buy(nil), 1)
	if err := server.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	session := s.Checkout(nil)
	status := s.Deliver(sandbox.EventRequest{Type: harness.Completed, Session: session, Retry: true}).Statuses[0]
	if err := server.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if status != http.StatusServiceUnavailable {
		t.Errorf("answered %d, want 503", status)
	}
	s.SettledOnce(session, 1)
}

func TestEverythingKilledInTheMiddleIsFinishedAfterTheNextStart(t *testing.T) {
	t.Parallel()
	temporal, postgres := privateTemporal(t), privatePostgres(t)
	if err := postgres.CreateDatabase(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	s := crash.Open(t, crash.Options{Config: quick, DatabaseURL: postgres.URL("shop"), TemporalAddress: temporal.Address()})
	f := s.Fault(sandbox.Fault{Target: "resend.send", Mode: "hold", Times: 3})
	sessions := []string{s.Buy(nil), s.Buy(nil), s.Buy(nil)}
	s.AwaitFault("waiting", f, 3)
	for _, kill := range []func(){s.Worker.Kill, s.Starter.Kill, temporal.Kill, postgres.Kill} {
		kill()
	}
	s.Sandbox.Release()
	for _, restart := range []func() error{
		func() error { return postgres.Restart(t.Context()) },
		func() error { return temporal.Restart(t.Context()) },
	} {
		if err := restart(); err != nil {
			t.Fatal(err)
		}
	}
	s.StartStarter()
	s.StartWorker()
	for _, session := range sessions {
		s.SettledOnce(session, 1)
	}
}

// privateTemporal is a server that the test may kill.
func privateTemporal(t *testing.T) *stack.Temporal {
	t.Helper()
	dir := t.TempDir()
	server, err := stack.StartTemporal(t.Context(), stack.TemporalConfig{
		Binary: testenv.TemporalCLI(t), Dir: dir, Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	return server
}

// privatePostgres is a server that the test may kill.
func privatePostgres(t *testing.T) *stack.Postgres {
	t.Helper()
	dir := t.TempDir()
	server, err := stack.StartPostgres(t.Context(), stack.PostgresConfig{Dir: filepath.Join(dir, "postgres")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Kill()
		if err := stack.RemovePostgres(filepath.Join(dir, "postgres")); err != nil {
			t.Errorf("remove the test's Postgres: %v", err)
		}
	})
	return server
}
