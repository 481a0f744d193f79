package ledger_test

import (
	"testing"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
)

// Unreached is who was paid for and of whom nothing shows that they have it, when that was to be expected.
func TestWhoWasNotReachedIsListed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do        func(b *env)
		unreached bool
	}{
		"accepted, and nothing since": {func(b *env) { b.accept(1) }, true},
		"delivered": {func(b *env) {
			b.accept(1)
			b.report(b.emailEvent("e"+b.key.Session, "1", b.message(1), order.DeliveryDelivered))
		}, false},
		"bounced": {func(b *env) {
			b.accept(1)
			b.report(b.emailEvent("e"+b.key.Session, "1", b.message(1), order.DeliveryBounced))
		}, true},
		"bounced, and downloaded": {func(b *env) {
			b.accept(1)
			b.report(b.emailEvent("e"+b.key.Session, "1", b.message(1), order.DeliveryBounced))
			b.must(b.Reached(b.t.Context(), b.key, order.ReachDownloaded))
		}, false},
		"opened": {func(b *env) { b.accept(1); b.must(b.Reached(b.t.Context(), b.key, order.ReachOpened)) }, false},
		"not sent": {func(b *env) {
			b.must(b.Stop(b.t.Context(), b.work(1), "", order.ClassExhausted, order.ReasonEmailExhausted))
		}, true},
		"being sent": {func(*env) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := ownEnv(t)
			b.pay().give()
			c.do(b)
			b.exec(`UPDATE orders SET confirmed_at = confirmed_at - interval '25 hours' WHERE session = $1`, b.key.Session)
			b.exec(`UPDATE obligations SET finished_at = finished_at - interval '25 hours' WHERE session = $1`, b.key.Session)
			views, err := b.List(t.Context(), ledger.Filter{Unreached: true, UnreachedAfter: 24 * time.Hour, Limit: 10})
			b.must(err)
			what, err := b.Unreached(t.Context(), 24*time.Hour, 10)
			b.must(err)
			if got := len(views) == 1; got != c.unreached || what.Orders != len(views) || len(what.References) != len(views) {
				t.Errorf("listed %d, %+v; want it to be: %v", len(views), what, c.unreached)
			}
			if young, err := b.List(t.Context(), ledger.Filter{Unreached: true, UnreachedAfter: 26 * time.Hour, Limit: 10}); name == "accepted, and nothing since" && (err != nil || len(young) != 0) {
				t.Errorf("too early: %d, %v", len(young), err)
			}
		})
	}
}

func TestFirstProofIsKept(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	b.pay()
	b.must(b.Reached(t.Context(), b.key, order.ReachOpened))
	first := b.view().OpenedAt
	b.must(b.Reached(t.Context(), b.key, order.ReachOpened))
	if v := b.view(); first == nil || !v.OpenedAt.Equal(*first) || v.DownloadedAt != nil {
		t.Errorf("opened %v, then %v; downloaded %v", first, v.OpenedAt, v.DownloadedAt)
	}
}
