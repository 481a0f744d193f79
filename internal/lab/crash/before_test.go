package crash_test

import (
	"testing"
	"time"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// What was sold before Handover served the environment was somebody else's to deliver, however its money goes later: the
// buyer is not written to, no key is made, and the audit says why. Only a checkout event that comes now is ours.
func TestMoneyOfASaleFromBeforeDeliversNothing(t *testing.T) {
	t.Parallel()
	s := openCreem(t)
	before := time.Now().Add(-60 * 24 * time.Hour)
	happens := map[string]func(*testing.T, *crash.Shop, string){
		"a part is refunded": refund(1, 100, "succeeded"),
		"all is refunded":    refund(1, 0, "succeeded"),
		"the bank inquires":  dispute("warning_needs_response"),
		"it is disputed":     dispute("needs_response"),
	}
	sold := map[string]string{}
	for what, happens := range happens {
		sold[what] = soldBefore(t, s, before)
		happens(t, s, sold[what])
	}
	disputeIs("won")(t, s, sold["it is disputed"])
	atCreem := sellAtCreem(t, s, sandbox.Checkout{Created: before})
	_, err := s.Sandbox.ChangeCheckout(atCreem.ID, []byte(`{"refunds":[{"amount":400}]}`))
	must(t, err)
	reportAtCreem(t, s, sandbox.CreemEvent{Type: "refund.created", Checkout: atCreem.ID})
	sold["a part is refunded at Creem"] = atCreem.ID

	// Two minutes later the provider is asked whose money it is.
	s.Exec(`UPDATE webhook_events SET received_at = received_at - interval '2 minutes'`)
	db := s.Database()
	count := func(sql string, args ...any) (n int) {
		must(t, db.QueryRow(t.Context(), sql, args...).Scan(&n))
		return n
	}
	s.Eventually("every event is discarded", func() bool {
		return count(`SELECT count(*) FROM webhook_events WHERE kind IN ('refund', 'dispute') AND dispatched_at IS NULL`) == 0
	})
	for what, session := range sold {
		if count(`SELECT count(*) FROM audit WHERE session = $1 AND what LIKE 'discarded the refund or dispute event %'`, session) == 0 {
			t.Errorf("%s: the audit has no line", what)
		}
	}
	runReconcile(t, s, 0)
	if orders, _ := s.Heard(); orders != 0 || s.Sandbox.Counts().Emails.Accepted != 0 || count(`SELECT count(*) FROM grants`) != 0 {
		t.Errorf("%d orders, %d emails, %d grants; want none", orders, s.Sandbox.Counts().Emails.Accepted, count(`SELECT count(*) FROM grants`))
	}

	late := soldBefore(t, s, before) // a bank debit that took its time
	if status := s.Report(late, harness.Completed, ""); status != 200 {
		t.Fatalf("the sale was answered %d", status)
	}
	s.AwaitState(late, order.CustomerReady)
	refund(1, 0, "succeeded")(t, s, late)
	s.AwaitState(late, order.CustomerEnded)
}

func soldBefore(t *testing.T, s *crash.Shop, at time.Time) string {
	t.Helper()
	sold, err := s.Sandbox.CreateBatch(sandbox.Batch{Created: []time.Time{at}, Session: sandbox.Session{
		Email: crash.BuyerEmail, Amount: 1900, Currency: "eur", Items: []sandbox.Item{guide}}})
	must(t, err)
	return sold[0].ID
}
