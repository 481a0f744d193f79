package crash_test

import (
	"testing"

	"handover/internal/lab/crash"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// Refunds and disputes of which no webhook came are found in the provider's lists: by the schedule from its high-water mark
// on, and by hand from any time, as after a backup was restored.
func TestReversalsThatNobodyReportedAreFound(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	refunded, disputed, kept := s.Buy(nil), s.Buy(nil), s.Buy(nil)
	for _, session := range []string{refunded, disputed, kept} {
		s.AwaitState(session, order.CustomerReady)
	}
	if _, err := s.Sandbox.Refund(sandbox.Refund{Session: refunded}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sandbox.Dispute(sandbox.Dispute{Session: disputed}); err != nil {
		t.Fatal(err)
	}
	runReconcile(t, s, 0).is(t, "in the minutes of their webhooks", 3, 0, 0, 0)
	if r := runReconcile(t, s, 0, "--money", "--since", "1h", "--dry-run"); r.Repaired != 2 || !r.DryRun {
		t.Errorf("a dry run: %+v", r)
	}
	runReconcile(t, s, 0, "--money", "--since", "1h").is(t, "by hand", 2, 2, 0, 0)
	s.AwaitState(refunded, order.CustomerEnded)
	s.AwaitState(disputed, order.CustomerOnHold)
	runReconcile(t, s, 0, "--money", "--since", "1h").is(t, "again", 2, 0, 2, 0)

	// The backup of this morning knows of neither.
	s.Exec(`UPDATE orders SET refunded = 0, dispute = '', reversal_read_at = NULL`)
	s.Exec(`UPDATE obligations SET wanted = 'granted' WHERE kind = 'access'`)
	s.Exec(`DELETE FROM obligations WHERE kind = 'access_change'`)
	s.Exec(`UPDATE grants SET state = 'granted'`)
	s.AwaitState(refunded, order.CustomerReady)
	runReconcile(t, s, 0, "--money", "--since", "1h").is(t, "after a restored backup", 2, 2, 0, 0)
	s.AwaitState(refunded, order.CustomerEnded)
	s.AwaitState(disputed, order.CustomerOnHold)
	s.AwaitState(kept, order.CustomerReady)
}
