package crash_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handover/internal/lab/crash"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// The product was set up without one of its parts: those who bought it get what is missing, once, and lose nothing.
func TestReplayGivesWhatTheCatalogueLacked(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session, refunded := s.Buy(nil), s.Buy(nil)
	s.SettledOnce(session, 1)
	s.SettledOnce(refunded, 1)
	before := s.Outcome(session)
	if _, _, code := s.Command("revoke", "test/"+refunded, "--reason", "asked for"); code != 0 {
		t.Fatal("revoke failed")
	}
	s.Reconfigure(`access  = [ { kind = "download", file = "guide.pdf" }`, `access  = [ { kind = "download", id = "extra", file = "extra.txt" }, { kind = "download", file = "guide.pdf" }`)
	s.Worker.Stop()
	s.StartWorker()
	if out, errs, code := s.Command("replay", "--product", "guide", "--dry-run"); code != 0 || !strings.Contains(out, "would be added: guide/download/extra.txt") {
		t.Fatalf("dry run ended %d: %s%s", code, out, errs)
	}
	if got := s.Outcome(session); got.Grants != before.Grants {
		t.Errorf("a dry run changed %+v to %+v", before, got)
	}
	for range 2 {
		if out, errs, code := s.Command("replay", "--product", "guide", "--catalogue"); code != 0 || !strings.Contains(out, "1 order left alone") {
			t.Fatalf("replay ended %d: %s%s", code, out, errs)
		}
		s.Eventually("the missing part is given", func() bool { return s.Outcome(session).Grants == before.Grants+1 })
	}
	s.SettledOnce(session, 1)
	s.AwaitState(refunded, order.CustomerEnded)
	if _, errs, code := s.Command("replay", "test/"+refunded, "--catalogue"); code != 1 || !strings.Contains(errs, "not as it was bought") {
		t.Errorf("replay of an order that has ended: %d, %s", code, errs)
	}
}

// Version 2 has another file name: the earlier buyer's link and page give it.
func TestRenamedFileIsGivenToWhoBoughtBefore(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(nil)
	s.SettledOnce(session, 1)
	link, _ := s.Link(s.Message(session))
	files := filepath.Join(s.Dir, "files")
	if err := os.Rename(filepath.Join(files, "guide.pdf"), filepath.Join(files, "v2.pdf")); err != nil {
		t.Fatal(err)
	}
	s.Reconfigure(`file = "guide.pdf"`, `file = "v2.pdf"`)
	s.Starter.Stop()
	s.StartStarter()
	_, page := get(t, link)
	if !strings.Contains(page, "v2.pdf") || strings.Contains(page, "guide.pdf") {
		t.Fatalf("the page behind the link offers:\n%s", page)
	}
	at := page[strings.Index(page, "/d/"):]
	if status, _ := get(t, s.PublicURL+at[:strings.IndexAny(at, `"`)]); status != http.StatusOK {
		t.Errorf("the download is answered %d", status)
	}
}

// By hand a session is delivered that nobody has reported, also one from before Handover served the environment.
func TestReplayDeliversASessionThatNobodyReported(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	s.AwaitState(s.Buy(nil), order.CustomerReady)
	session := s.Checkout(func(c *sandbox.Session) { c.Created = time.Now().Add(-60 * 24 * time.Hour) })
	if out, errs, code := s.Command("replay", "test/"+session); code != 0 {
		t.Fatalf("replay ended %d: %s%s", code, out, errs)
	}
	s.SettledOnce(session, 1)
	if _, errs, code := s.Command("replay", "test/cs_test_nobody"); code != 3 || !strings.Contains(errs, "its provider does not know it") {
		t.Errorf("replay of nothing ended %d: %s", code, errs)
	}
}
