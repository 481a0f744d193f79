package ledger_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
)

func TestUnfinishedOrdersAreListedPageByPageAndOthersNot(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	b.pay() // access and email are owed
	finished := b.another()
	finished.pay().give().accept(1)
	stopped := b.another()
	stopped.pay().give()
	b.must(b.Stop(t.Context(), ledger.EmailObligation(stopped.key, 1), "", order.ClassExhausted, order.ReasonEmailExhausted))
	unpaid := b.another()
	_, err := b.StoreEvent(t.Context(), ledger.WebhookEvent{Environment: "test", ID: "evt_" + unpaid.key.Session, Type: "checkout.session.completed",
		Kind: "checkout", Session: unpaid.key.Session})
	b.must(err)
	b.exec(`UPDATE orders SET created_at = created_at - interval '1 hour'`)
	b.exec(`UPDATE obligations SET created_at = created_at - interval '1 hour'`)
	young := b.another()
	young.pay()

	var listed []order.Key
	for after := (order.Key{}); ; {
		page, err := b.Unfinished(t.Context(), after, 10*time.Minute, 1)
		b.must(err)
		if len(page) == 0 {
			break
		}
		listed = append(listed, page...)
		after = page[0]
	}
	want := []order.Key{b.key, unpaid.key}
	slices.SortFunc(want, func(a, b order.Key) int { return strings.Compare(a.Session, b.Session) })
	if !slices.Equal(listed, want) {
		t.Errorf("listed %v, want %v", listed, want)
	}
}

func TestTheTimeOfTheLastPassIsKept(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	at, err := b.ReconciledAt(t.Context())
	b.must(err)
	if !at.IsZero() {
		t.Errorf("before the first pass: %s", at)
	}
	for range 2 {
		b.must(b.Reconciled(t.Context(), ledger.Reconciliation{Checked: 3, Repaired: 1}))
	}
	at, err = b.ReconciledAt(t.Context())
	b.must(err)
	if since := time.Since(at); since < -time.Minute || since > time.Minute {
		t.Errorf("the last pass was %s ago", since)
	}
}
