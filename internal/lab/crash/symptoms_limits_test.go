package crash_test

import (
	"strings"
	"testing"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
)

// A launch: thirty emails at once against a provider that takes six a second and refuses the rest with 429. Every buyer
// gets one email, no attempt is counted on a refusal, and nobody is asked.
func TestALaunchAgainstARateLimitLosesAndDoublesNoEmail(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Sandbox: func(c *sandbox.Config) { c.RatePerSecond = 6 }})
	s.Worker.Stop()
	var sessions []string
	for range 30 {
		sessions = append(sessions, s.Buy(nil))
	}
	s.StartWorker()
	refused := 0
	for _, session := range sessions {
		s.SettledOnce(session, 1)
		refused += s.Sandbox.Counts().Emails.ByKey[harness.EmailKey(session, 1)].Calls - 1
	}
	if refused == 0 {
		t.Error("the provider refused nothing: there was no launch")
	}
	var most int
	must(t, s.Database().QueryRow(t.Context(), `SELECT max(attempts) FROM obligations WHERE kind = 'email'`).Scan(&most))
	if most != 1 {
		t.Errorf("%d attempts are exhausted on an email that was refused for being too many", most)
	}
	if left := attention(t, s); len(left) != 0 {
		t.Errorf("a person is asked: %v", left)
	}
}

// A starter without a way to tell a provider from anybody else does not start, and names the setting.
func TestAStarterWithoutAWebhookSecretDoesNotStart(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Idle: true})
	before := `webhook_secrets = ["${STRIPE_SECRET}"]`
	for _, secrets := range []string{`webhook_secrets = [""]`, `webhook_secrets = []`, `webhook_secrets = ["whsec_"]`, `webhook_secrets = [" "]`, `webhook_secrets = ["${UNSET}"]`, ``} {
		s.Reconfigure(before, secrets+"# the environment's")
		before = secrets + "# the environment's"
		if _, errs, code := s.Command("serve"); code != 1 || !strings.Contains(errs, "webhook_secrets") || !strings.Contains(errs, "environments.test") && !strings.Contains(errs, "line ") {
			t.Errorf("%q: serve ended %d:\n%s", secrets, code, errs)
		}
	}
}
