package ledger_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/ledger"
	"handover/internal/order"
)

// everywhere is every row of every table, as text.
func (b *env) everywhere() string {
	b.t.Helper()
	rows, err := b.pool.Query(b.t.Context(), `SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`)
	b.must(err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	b.must(err)
	var text strings.Builder
	for _, table := range tables {
		rows, err := b.pool.Query(b.t.Context(), `SELECT replace(encode(convert_to(t::text, 'UTF8'), 'escape'), '\\', '\') FROM `+table+` t`)
		b.must(err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		b.must(err)
		text.WriteString(table + "\n" + strings.Join(lines, "\n") + "\n")
	}
	return text.String()
}

// hexed is how a text looks inside a bytea that Postgres writes out.
func hexed(text string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for _, c := range []byte(text) {
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}

func TestErasedBuyerIsNowhereAndTheGoodsStay(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	b.store(b.event("1"))
	b.pay().give().accept(1)
	b.storeRefund("r")
	b.review(strict, order.ReversalFacts{})
	b.report(order.EmailEvent{ID: "msg_1", Type: "email.bounced", MessageID: b.message(1), Delivery: order.DeliveryBounced, Detail: "550 " + alex})
	b.must(b.StoreRequest(b.t.Context(), order.Request{Key: b.key, ID: "typed", Kind: "retry", Who: "alice", Why: "Alexandra called"}))
	_, err := b.Retry(t.Context(), order.Request{Key: b.key, ID: "typed", Kind: "retry", Who: "alice", Why: "Alexandra called"}, time.Hour)
	b.must(err)
	needles := []string{alex, name, hexed(alex), hexed(name), "Alexandra"}
	before := b.everywhere()
	for _, needle := range needles[:3] {
		if !strings.Contains(before, needle) {
			t.Fatalf("%q is nowhere before: the search finds nothing", needle)
		}
	}
	keys := b.secrets(order.AccessGranted)

	b.must(b.Erase(t.Context(), b.key, "alice", "the buyer asked"))
	after := b.everywhere()
	for _, needle := range needles {
		if i := strings.Index(after, needle); i >= 0 {
			t.Errorf("%q is still there: %s", needle, after[max(0, i-200):min(len(after), i+100)])
		}
	}
	// Whatever is reported later brings nothing back.
	b.store(b.event("2"))
	b.record(b.paid())
	b.storeRefund("late")
	b.review(strict, order.ReversalFacts{})
	b.report(order.EmailEvent{ID: "msg_2", Type: "email.bounced", MessageID: b.message(1), Delivery: order.DeliveryBounced, Detail: "550 " + alex})
	b.report(b.emailEvent("msg_3", "1", "another", order.DeliveryBounced))
	later := b.everywhere()
	for _, needle := range needles {
		if i := strings.Index(later, needle); i >= 0 {
			t.Errorf("%q is back: %s", needle, later[max(0, i-200):min(len(later), i+100)])
		}
	}
	v := b.view()
	if v.Facts.Access != order.AccessGranted || v.Total.Minor != 1200 || strings.Join(b.secrets(order.AccessGranted), " ") != strings.Join(keys, " ") {
		t.Errorf("access %s, total %d", v.Facts.Access, v.Total.Minor)
	}
	entries, err := b.Audit(t.Context(), b.key)
	b.must(err)
	if last := entries[len(entries)-1]; last.Who != "alice" || last.What != "buyer erased" {
		t.Errorf("the audit ends with %+v", last)
	}
}

func TestBuyerToWhomSomethingIsOwedIsNotErased(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	if err := b.Erase(t.Context(), b.key, "alice", "asked"); !errors.Is(err, ledger.ErrUnderWay) {
		t.Errorf("while the email is owed: %v", err)
	}
	if b.view().Address == "" {
		t.Error("it was erased all the same")
	}
	b.accept(1)
	b.must(b.StoreRequest(t.Context(), b.request("waits")))
	if err := b.Erase(t.Context(), b.key, "alice", "asked"); !errors.Is(err, ledger.ErrUnderWay) {
		t.Errorf("while a request waits for a worker: %v", err)
	}
	if err := b.another().Erase(t.Context(), newKey(), "alice", "asked"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("an order nobody knows: %v", err)
	}
}

// What is not ours and was refunded has nothing to be done, and nothing of its buyer is kept.
func TestIgnoredSessionKeepsNothingOfItsBuyer(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	p := b.paid()
	b.record(order.Assessment{Key: b.key, State: order.PaymentPending, Ref: p.Ref, Email: alex, Name: name})
	p.State, p.Entitlements = order.PaymentIgnored, nil
	b.record(p)
	b.storeRefund("1")
	if text := b.everywhere(); strings.Contains(text, alex) || strings.Contains(text, name) {
		t.Errorf("the buyer is kept: %s", text)
	}
	b.must(b.Erase(t.Context(), b.key, "alice", "asked"))
}

func TestOrderWhoseReversalWaitsForAPersonIsErased(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	b.storeRefund("1")
	if err := b.Erase(t.Context(), b.key, "alice", "asked"); !errors.Is(err, ledger.ErrUnderWay) {
		t.Errorf("while the provider is to be asked: %v", err)
	}
	b.must(b.StopReversal(t.Context(), b.key, order.ClassExhausted, order.ReasonReversalUnread))
	b.must(b.Erase(t.Context(), b.key, "alice", "asked"))
}

// An event is kept by its ids and its type. What a provider says in its body is nowhere after a whole order.
func TestEventsAreKeptWithoutTheirBodies(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	b.store(b.event("1"))
	b.pay().give().accept(1)
	b.storeRefund("r")
	b.report(b.emailEvent("e", "1", b.message(1), order.DeliveryDelivered))
	rows, err := b.pool.Query(t.Context(), `
SELECT table_name || '.' || column_name FROM information_schema.columns
WHERE table_name IN ('webhook_events', 'email_evidence') AND data_type IN ('bytea', 'json', 'jsonb')`)
	b.must(err)
	if bodies, err := pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || len(bodies) > 0 {
		t.Errorf("columns for bodies: %v, %v", bodies, err)
	}
	for line := range strings.Lines(b.everywhere()) {
		if strings.Contains(line, b.key.Session) && (strings.Contains(line, `"object"`) || strings.Contains(line, `{""`)) {
			t.Errorf("it looks like a body: %s", line)
		}
	}
}

func TestEmailEventsOfOthersAreNotKept(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	b.pay().give().accept(1)
	for name, c := range map[string]struct {
		event order.EmailEvent
		ours  bool
	}{
		"our tags":             {b.emailEvent("a", "1", "another id", order.DeliverySent), true},
		"an id of ours":        {b.emailEvent("b", "", b.message(1), order.DeliverySent), true},
		"neither":              {b.emailEvent("c", "", "an id of theirs", order.DeliverySent), false},
		"tags that are no key": {b.emailEvent("d", "one", "an id of theirs", order.DeliverySent), false},
	} {
		if got := b.report(c.event); got.Ours != c.ours {
			t.Errorf("%s: ours %v, want %v", name, got.Ours, c.ours)
		}
		if n := b.count(`SELECT count(*) FROM email_evidence WHERE event_id = $1`, c.event.ID); (n == 1) != c.ours {
			t.Errorf("%s: kept %d times", name, n)
		}
	}
}
