package crash_test

import (
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/stack"
)

func TestAWorkerKilledAtAnyPointIsReplacedAndEverythingIsDoneOnce(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: brisk, Failpoints: true})
	all := occupy(t, s, places)
	s.Worker.Kill()
	s.StartWorker()
	checkAll(t, s, all)
}

// A worker is frozen, its connections are gone, and another one finishes everything. Then it wakes up at the very points
// where it stood, with claims that have expired: nothing changes, in the ledger and at the providers.
func TestAWorkerFrozenAtAnyPointChangesNothingWhenItWakesUp(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: brisk, Failpoints: true})
	all := occupy(t, s, places)
	late := s.Worker
	freeze(t, s)
	s.StartAnotherWorker()
	checkAll(t, s, all)

	rows, emails := s.Rows(), s.Sandbox.Counts().Emails // a read of the payment provider changes nothing
	said := len(s.Log("worker"))
	release(all) // while it is frozen: it goes on at once when it wakes up
	wake(t, s, late)
	haveEnded(s, all, said)
	if diff := cmp.Diff(rows, s.Rows()); diff != "" {
		t.Errorf("the late worker changed the ledger (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(emails, s.Sandbox.Counts().Emails); diff != "" {
		t.Errorf("the late worker sent something (-before +after):\n%s", diff)
	}
}

// The late worker wakes up while its replacement is at work under a claim of its own, which it can neither finish nor
// give back.
func TestAWorkerThatWakesUpWhileItsReplacementIsAtWorkTakesNothingFromIt(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: brisk, Failpoints: true})
	claimed := slices.DeleteFunc(slices.Clone(places), func(p place) bool {
		return !slices.Contains([]string{"email.answered", "email.before_send", "email.claimed"}, p.point)
	})
	all := occupy(t, s, claimed)
	late := s.Worker
	freeze(t, s)
	s.Arm("email.claimed", len(all))
	s.StartAnotherWorker()
	var replacements []*harness.Held
	for range all {
		replacements = append(replacements, s.At("email.claimed"))
	}
	rows, emails := s.Rows(), s.Sandbox.Counts().Emails
	said := len(s.Log("worker"))
	release(all) // while it is frozen: it goes on at once when it wakes up
	wake(t, s, late)
	haveEnded(s, all, said)
	if diff := cmp.Diff(rows, s.Rows()); diff != "" {
		t.Errorf("the late worker changed the ledger (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(emails, s.Sandbox.Counts().Emails); diff != "" {
		t.Errorf("the late worker sent something (-before +after):\n%s", diff)
	}
	for _, r := range replacements {
		r.Release()
	}
	checkAll(t, s, all)
}

// freeze stops the worker as a whole and cuts its connection to Temporal, which else hands tasks to its open polls for up
// to a minute.
func freeze(t *testing.T, s *crash.Shop) {
	t.Helper()
	if err := s.Worker.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.Proxy.Cut()
}

// wake lets a frozen worker run, and waits until it serves again.
func wake(t *testing.T, s *crash.Shop, late *stack.Process) {
	t.Helper()
	if err := late.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.Eventually("the late worker serves again", func() bool {
		resp, err := http.Get(s.WorkerURL + "/readyz")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// Postgres dies while the worker stands at the points. What the worker then does cannot be written down, until it is back.
func TestPostgresKilledAtAnyPointComesBackAndEverythingIsDoneOnce(t *testing.T) {
	t.Parallel()
	server := privatePostgres(t)
	if err := server.CreateDatabase(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	s := crash.Open(t, crash.Options{Config: brisk, Failpoints: true, DatabaseURL: server.URL("shop")})
	all := occupy(t, s, places)
	server.Kill()
	goOn(s, all)
	for i, at := range all {
		if at.unsaved != nil {
			all[i].want = *at.unsaved
		}
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkAll(t, s, all)
}

// Temporal dies while the worker stands at the points. What the worker then does is written down in the ledger, and
// cannot be reported: when Temporal is back it asks for all of it again.
func TestTemporalKilledAtAnyPointComesBackAndNothingIsDoneTwice(t *testing.T) {
	t.Parallel()
	server := privateTemporal(t)
	s := crash.Open(t, crash.Options{Config: brisk, Failpoints: true, TemporalAddress: server.Address()})
	all := occupy(t, s, places)
	server.Kill()
	goOn(s, all)
	for i, at := range all {
		if at.unreported != nil {
			all[i].want = *at.unreported
		}
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkAll(t, s, all)
}

// goOn lets everything that stands go on, and waits until each attempt has said how it ended.
func goOn(s *crash.Shop, all []heldOrder) {
	said := len(s.Log("worker"))
	release(all)
	haveEnded(s, all, said)
}

func release(all []heldOrder) {
	for _, at := range all {
		at.Release()
	}
}

// haveEnded waits until the worker has logged something about every order since it had said so much.
func haveEnded(s *crash.Shop, all []heldOrder, said int) {
	for _, at := range all {
		s.Eventually("the attempt at "+at.point+" has ended", func() bool {
			return strings.Contains(s.Log("worker")[said:], at.session)
		})
	}
}
