package crash_test

import (
	"net/http"
	"strings"
	"testing"

	"handover/internal/lab/crash"
)

// A link secret has leaked: another one is put before it, and one command makes every link of it dead. Those that are made
// from then on work, and a starter that does not have the secrets at all serves them.
func TestLinksOfALeakedSecretDieInOneCommand(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	first, second := s.Buy(nil), s.Buy(nil)
	s.SettledOnce(first, 1)
	s.SettledOnce(second, 1)
	old, _ := s.Link(s.Message(first))
	var leaked string
	if err := s.Database().QueryRow(t.Context(), `SELECT DISTINCT secret FROM links`).Scan(&leaked); err != nil {
		t.Fatal(err)
	}
	if out, _, _ := s.Command("check"); !strings.Contains(out, leaked) {
		t.Errorf("starter check does not print the fingerprint:\n%s", out)
	}
	s.Reconfigure(`link_secrets = [`, `link_secrets = ["another secret of more than 32 bytes, 4711", `)
	s.Worker.Stop()
	s.StartWorker()
	if _, errs, code := s.Command("relink", "--made-with", "000000000000", "--reason", "typing mistake"); code != 3 {
		t.Errorf("an unknown secret: exit %d, %s", code, errs)
	}
	out, errs, code := s.Command("relink", "--made-with", leaked, "--send", "--reason", "the secret leaked")
	if code != 0 || !strings.Contains(out, "2 orders") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	if status, _ := get(t, old); status != http.StatusNotFound {
		t.Errorf("the old link is answered %d", status)
	}
	s.SettledOnce(first, 2)
	s.SettledOnce(second, 2)
	fresh, _ := s.Link(s.Message(first))
	if status, _ := get(t, fresh); fresh == old || status != http.StatusOK {
		t.Errorf("the new link is answered %d", status)
	}
	_, page := get(t, s.PublicURL+"/orders/test/"+first)
	if strings.Contains(page, "•") || strings.Contains(page, "/resend") {
		t.Error("the page by session id still names the address, or sends the email again")
	}
}
