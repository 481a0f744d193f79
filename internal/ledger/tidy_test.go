package ledger_test

import (
	"testing"
	"time"

	"handover/internal/order"
)

// What is past its time is deleted in batches; what was never dispatched, and what is young, stays.
func TestWhatIsPastItsTimeIsDeletedInBatches(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	b.pay()
	const month = 30 * 24 * time.Hour
	b.exec(`
INSERT INTO webhook_events (environment, event_id, type, kind, received_at, dispatched_at)
SELECT e, 'evt_old_' || n, 'x', 'other', now() - interval '40 days', now() FROM generate_series(1, 25) n, (VALUES ('test'), ('live')) AS v (e)`)
	b.exec(`
INSERT INTO webhook_events (environment, event_id, type, kind, received_at, dispatched_at)
VALUES ('test', 'evt_waits', 'x', 'refund', now() - interval '40 days', NULL), ('test', 'evt_young', 'x', 'other', now() - interval '20 days', now())`)
	b.exec(`INSERT INTO alerts (environment, session, reason, claimed_at) VALUES ('', '', 'x', now() - interval '40 days'), ('', '', 'y', now())`)
	batches := 0
	for {
		deleted, err := b.Tidy(t.Context(), month, 10)
		b.must(err)
		if deleted > 10 {
			t.Fatalf("%d at once", deleted)
		}
		if batches++; deleted < 10 {
			break
		}
	}
	if batches != 6 {
		t.Errorf("%d batches, want 6", batches)
	}
	if n := b.count(`SELECT count(*) FROM webhook_events WHERE event_id LIKE 'evt_old%'`); n != 0 {
		t.Errorf("%d old events are left", n)
	}
	if n := b.count(`SELECT count(*) FROM webhook_events WHERE event_id IN ('evt_waits', 'evt_young')`) + b.count(`SELECT count(*) FROM alerts`); n != 3 {
		t.Errorf("%d of the rest are left, want 3", n)
	}
}

// A refund or a dispute is unread when it is younger than the last reading, or adds up to more than is known.
func TestUnreadReversals(t *testing.T) {
	t.Parallel()
	read := time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		is     order.Reversed
		change string
		unread bool
	}{
		"younger than the last reading":  {is: order.Reversed{At: read.Add(time.Minute)}, unread: true},
		"older":                          {is: order.Reversed{At: read.Add(-time.Minute)}},
		"never read":                     {is: order.Reversed{At: read.Add(-time.Minute)}, change: `reversal_read_at = NULL`, unread: true},
		"about to be read":               {is: order.Reversed{At: read.Add(time.Minute)}, change: `reversal_due_at = now()`},
		"more than is known":             {is: order.Reversed{Refunded: 500}, unread: true},
		"as much as is known":            {is: order.Reversed{Refunded: 500}, change: `refunded = 500`},
		"as much, and on its way":        {is: order.Reversed{Refunded: 500}, change: `refunded = 200, refund_pending = 300`},
		"a dispute that is not known":    {is: order.Reversed{Disputed: true}, unread: true},
		"a dispute that is":              {is: order.Reversed{Disputed: true}, change: `dispute = 'open'`},
		"of an order that is not paid":   {is: order.Reversed{At: read.Add(time.Minute)}, change: `payment = 'pending'`},
		"of a payment that is not known": {is: order.Reversed{Ref: "pi_other", At: read.Add(time.Minute)}},
		"of no payment":                  {is: order.Reversed{Ref: "-", At: read.Add(time.Minute)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newEnv(t)
			b.pay()
			ref := "pi_" + b.key.Session
			b.exec(`UPDATE orders SET payment_ref = $2, reversal_read_at = $3 WHERE session = $1`, b.key.Session, ref, read)
			if c.change != "" {
				b.exec(`UPDATE orders SET `+c.change+` WHERE session = $1`, b.key.Session)
			}
			if c.is.Ref == "" {
				c.is.Ref = ref
			}
			keys, err := b.UnreadReversals(t.Context(), "test", []order.Reversed{c.is, {Ref: "pi_none"}, c.is})
			if b.must(err); (len(keys) == 1) != c.unread || len(keys) > 1 {
				t.Errorf("unread: %v", keys)
			}
		})
	}
}
