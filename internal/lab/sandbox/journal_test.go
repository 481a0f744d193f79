package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/lab/sandbox"
)

// A kill leaves the file as it is at that moment, so the second sandbox opens it while the first still has it open.
func TestRestartForgetsNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	hook := receive(t, always(200))
	cfg := sandbox.Config{Journal: path, WebhookURL: hook.url, ResendWebhookSecret: emailSecret, EmailWebhookURL: hook.url}
	before := start(t, cfg)
	sess := made(before.CreateSession(sandbox.Session{PaymentStatus: "unpaid", Items: []sandbox.Item{{Price: "price_guide"}}}))(t)
	sess = made(before.PaySession(sess.ID))(t)
	sent := post(t, before.Base, "k", bodyA)
	post(t, before.Base, "k", bodyB)
	made(before.DeliverEmailEvent(t.Context(), sent.json(t, "id"), sandbox.EmailEventRequest{Type: "email.delivered"}))(t)

	after := start(t, cfg)
	if diff := cmp.Diff(sess, made(after.Session(sess.ID))(t)); diff != "" {
		t.Errorf("session: %s", diff)
	}
	if diff := cmp.Diff(before.Messages(), after.Messages()); diff != "" {
		t.Errorf("messages: %s", diff)
	}
	if diff := cmp.Diff(before.Counts().Emails, after.Counts().Emails); diff != "" {
		t.Errorf("counts: %s", diff)
	}
	if a := post(t, after.Base, "k", bodyA); a.status != 200 || a.json(t, "id") != sent.json(t, "id") {
		t.Errorf("same key after the restart: %d %s", a.status, a.body)
	}
	if a := post(t, after.Base, "k", bodyB); a.status != 409 {
		t.Errorf("other payload after the restart: %d %s", a.status, a.body)
	}
}

func TestTornLastLineIsCutOff(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	post(t, start(t, sandbox.Config{Journal: path}).Base, "k", bodyA)
	f := made(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))(t)
	made(f.WriteString(`{"message":{"id":"to`))(t)
	must(t, f.Close())
	for range 2 { // the second restart reads what was written behind the cut
		c := start(t, sandbox.Config{Journal: path})
		if n := accepted(t, c); n != 1 {
			t.Errorf("%d accepted", n)
		}
		made(c.CreateSession(sandbox.Session{}))(t)
	}
}

func TestDamagedJournalStopsTheStart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	must(t, os.WriteFile(path, []byte("not JSON\n"), 0o600))
	if _, err := sandbox.New(sandbox.Config{Journal: path}); err == nil {
		t.Error("started")
	}
}
