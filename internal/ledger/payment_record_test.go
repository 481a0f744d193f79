package ledger_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/order"
)

func TestConfirmedPaymentIsNeverTakenBack(t *testing.T) {
	t.Parallel()
	for _, later := range []order.PaymentState{order.PaymentPending, order.PaymentFailed, order.PaymentIgnored, order.PaymentAttention} {
		b := newEnv(t).pay()
		confirmed := b.view().ConfirmedAt
		state, reason := b.record(order.Assessment{Key: b.key, State: later, Processing: later == order.PaymentPending, Reason: order.ReasonModeContradicts})
		if state != order.PaymentConfirmed || reason != "" {
			t.Errorf("a later %s makes it %s, %q", later, state, reason)
		}
		b.must(b.StopPayment(t.Context(), b.key, "", order.ClassPermanent, order.ReasonPaymentStopped))
		v := b.view()
		if v.Facts.Payment != order.PaymentConfirmed || v.Reason != "" || !v.ConfirmedAt.Equal(*confirmed) {
			t.Errorf("after a later %s and a stopped look: %s, %q, confirmed %v and before %v", later, v.Facts.Payment, v.Reason, v.ConfirmedAt, confirmed)
		}
		if v.Address != alex || v.Total.Minor != 1200 || v.PaymentRef == "" {
			t.Errorf("a later %s, which proves nothing of it, took away what was proved: %+v", later, v)
		}
	}
}

func TestFailureThatTheSessionCannotSayIsBelievedFromTheEvent(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	processing := order.Assessment{Key: b.key, State: order.PaymentPending, Processing: true}
	b.store(b.event("completed"))
	if state, _ := b.record(processing); state != order.PaymentPending {
		t.Fatalf("without a claim of failure: %s", state)
	}
	failed := b.event("failed")
	failed.Hint = "failed"
	b.store(failed)
	if state, _ := b.record(processing); state != order.PaymentFailed {
		t.Errorf("with a claim of failure: %s", state)
	}
	if state, _ := b.record(b.paid()); state != order.PaymentConfirmed {
		t.Errorf("paid after all: %s", state)
	}
	if state, _ := b.record(processing); state != order.PaymentConfirmed {
		t.Errorf("the claim of failure takes the payment back: %s", state)
	}
}

func TestClaimOfFailureDecidesNothingElse(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	failed := b.event("failed")
	failed.Hint = "failed"
	b.store(failed)
	if state, _ := b.record(order.Assessment{Key: b.key, State: order.PaymentPending}); state != order.PaymentPending {
		t.Errorf("a session that is still open: %s", state)
	}
	other := b.another()
	if state, _ := other.record(order.Assessment{Key: other.key, State: order.PaymentPending, Processing: true}); state != order.PaymentPending {
		t.Errorf("another order: %s", state)
	}
}

func TestConcurrentLooksOweEverythingOnce(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	b.store(b.event("1"))
	errs := make([]error, 10)
	atOnce(10, func(i int) { _, errs[i] = b.RecordPayment(t.Context(), b.paid()) })
	for _, err := range errs {
		b.must(err)
	}
	var subjects []string
	rows, err := b.pool.Query(t.Context(), `SELECT kind || ' ' || subject FROM obligations WHERE session = $1 ORDER BY 1`, b.key.Session)
	b.must(err)
	for rows.Next() {
		var s string
		b.must(rows.Scan(&s))
		subjects = append(subjects, s)
	}
	b.must(rows.Err())
	if diff := cmp.Diff([]string{"access guide/download/guide.pdf", "access guide/license", "email 1"}, subjects); diff != "" {
		t.Errorf("owed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(b.paid().Items, b.view().Items); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

func TestLaterLookOwesNothingMore(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	more := b.paid()
	more.Entitlements = append(more.Entitlements, order.Entitlement{Product: "tool", Kind: "license", Units: 1})
	more.Items = append(more.Items, order.Item{Line: 2, Refs: []string{"price_tool"}, Quantity: 1, Product: "tool"})
	b.record(more)
	if v := b.view(); v.Facts.Access != order.AccessGranted || v.Facts.Email != order.EmailAccepted || len(v.Items) != 1 {
		t.Errorf("after a catalogue that grew: access %s, email %s, %d items", v.Facts.Access, v.Facts.Email, len(v.Items))
	}
}

func TestEventsAreMarkedInThePaymentsCommit(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	first, second := b.event("1"), b.event("2")
	b.store(first)
	b.store(second)
	look := b.paid()
	look.Event = first.ID
	// A row that cannot be written takes everything else back with it.
	broken := look
	broken.Items = []order.Item{{Line: 1, Name: "\x00", Quantity: 1}}
	if _, err := b.RecordPayment(t.Context(), broken); err == nil {
		t.Fatal("no error for a row that cannot be written")
	}
	marked := `SELECT count(*) FROM webhook_events WHERE session = $1 AND dispatched_at IS NOT NULL`
	if n := b.count(marked, b.key.Session); n != 0 || b.view().Facts.Payment != order.PaymentPending {
		t.Errorf("a commit that failed left %d marks and the payment %s", n, b.view().Facts.Payment)
	}
	b.record(look)
	if n := b.count(marked+` AND event_id = $2`, b.key.Session, first.ID); n != 1 {
		t.Error("the event that made us look is not marked")
	}
	if n := b.count(marked, b.key.Session); n != 1 {
		t.Error("an event that this look did not know of is marked: its own look would be lost")
	}
}

func TestAttentionGoesWhenThePaymentIsConfirmed(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	b.store(b.event("1"))
	b.must(b.StopPayment(t.Context(), b.key, "", order.ClassMisconfigured, order.ReasonPaymentConfig))
	v := b.view()
	if v.Facts.Payment != order.PaymentAttention || v.Reason != order.ReasonPaymentConfig || v.Class != order.ClassMisconfigured || v.AttentionAt == nil {
		t.Fatalf("a stopped look: %+v", v)
	}
	b.pay()
	if v := b.view(); v.Reason != "" || v.Class != "" || v.AttentionAt != nil || v.Facts.Payment != order.PaymentConfirmed {
		t.Errorf("paid, and still %q (%s)", v.Reason, v.Facts.Payment)
	}
}

func TestAttentionOfAPaidOrderOutlivesALook(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	b.must(b.Stop(t.Context(), b.work(1), "", order.ClassPermanent, order.ReasonEmailRefused))
	if _, reason := b.record(b.paid()); reason != order.ReasonEmailRefused {
		t.Errorf("another look at the payment leaves %q of the stopped email", reason)
	}
}

func TestUnknownItemsKeepTheOrderForAPerson(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	p := b.paid()
	p.Reason, p.Class, p.Entitlements = order.ReasonItemsUnknown, order.ClassPermanent, nil
	p.Items = append(p.Items, order.Item{Line: 2, Refs: []string{"price_unknown"}, Name: "Unknown", Quantity: 1})
	if state, reason := b.record(p); state != order.PaymentConfirmed || reason != order.ReasonItemsUnknown {
		t.Fatalf("%s, %q", state, reason)
	}
	v := b.view()
	if v.Facts.Access != order.AccessAttention || v.Facts.CustomerState() != order.CustomerLooking || len(v.Emails) != 0 || len(v.Grants) != 0 {
		t.Errorf("access %s, the buyer sees %s, %d emails, %d grants", v.Facts.Access, v.Facts.CustomerState(), len(v.Emails), len(v.Grants))
	}
}

func TestMendedCatalogueFinishesAnOrderThatWaitedForAPerson(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	p := b.paid()
	p.Reason, p.Class, p.Entitlements = order.ReasonItemsUnknown, order.ClassPermanent, nil
	p.Items[0].Product = ""
	b.record(p)
	confirmed := b.view().ConfirmedAt
	if state, reason := b.record(b.paid()); state != order.PaymentConfirmed || reason != "" {
		t.Errorf("looked at again: %s, %q", state, reason)
	}
	b.give().accept(1)
	v := b.view()
	if v.Facts.CustomerState() != order.CustomerReady || v.AttentionAt != nil || v.Items[0].Product != "guide" || !v.ConfirmedAt.Equal(*confirmed) {
		t.Errorf("%s, attention at %v, product %q, confirmed at %v and before at %v",
			v.Facts.CustomerState(), v.AttentionAt, v.Items[0].Product, v.ConfirmedAt, confirmed)
	}
}

func TestMissingAddressStopsOnlyTheEmail(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	p := b.paid()
	p.Email, p.Reason, p.Class = "", order.ReasonNoAddress, order.ClassPermanent
	b.record(p)
	b.give()
	v := b.view()
	if v.Facts.Access != order.AccessGranted || v.Facts.Email != order.EmailAttention || v.Reason != order.ReasonNoAddress {
		t.Errorf("access %s, email %s, %q", v.Facts.Access, v.Facts.Email, v.Reason)
	}
}

func TestPaymentOfAnUnknownOrderIsRecorded(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	if got, err := b.Snapshot(t.Context(), b.key); err != nil || got.Payment != order.PaymentPending || got.Access != order.AccessPending || got.Generation != 1 {
		t.Errorf("of an order unknown to the ledger: %+v, %v", got, err)
	}
	b.pay()
	if got, err := b.Snapshot(t.Context(), b.key); err != nil || got.Payment != order.PaymentConfirmed {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestItemsThatCanBeMatchedLaterAreFilledIn(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	p := b.paid()
	p.State, p.Entitlements = order.PaymentIgnored, nil
	p.Items[0].Product = ""
	b.record(p)
	if v := b.view(); v.Facts.Payment != order.PaymentIgnored || v.Items[0].Product != "" {
		t.Fatalf("%s, product %q", v.Facts.Payment, v.Items[0].Product)
	}
	b.pay().give()
	if v := b.view(); v.Items[0].Product != "guide" || v.Facts.Access != order.AccessGranted {
		t.Errorf("after the catalogue was corrected: product %q, access %s", v.Items[0].Product, v.Facts.Access)
	}
}
