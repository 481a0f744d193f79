package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/failpoint"
	"handover/internal/order"
)

// WebhookEvent is a verified event of a payment provider on its way into the ledger.
type WebhookEvent struct {
	Environment string
	ID          string // the provider's id of the event, unique within the environment
	Type        string // the provider's word
	Kind        string // a payment.EventKind
	Hint        string // a payment.Hint
	Session     string // empty unless the event is about a checkout session
	PaymentRef  string // empty when the event has none
	Ignored     bool   // kept, and brings no order into being
}

// Stored says what became of an event and what has to happen next.
type Stored struct {
	New     bool
	Session string // the order that the event belongs to; empty for one that waits for its order
	Next    Next
}

// Next is what an event asks of Temporal. The ledger decides it: Temporal forgets a workflow ID after retention.
type Next string

// What follows a stored event.
const (
	// NextNothing means that the event brings nothing new.
	NextNothing Next = ""
	// NextStart means that the session was never dispatched: start it, duplicates rejected.
	NextStart Next = "start"
	// NextStartOrCheck means the same for an event that is not the order's first: where a run was started in the meantime,
	// that one has to check again.
	NextStartOrCheck Next = "start_or_look"
	// NextCheck means that what is known of the payment may have changed: signal the workflow, starting it when it has closed.
	NextCheck Next = "look"
	// NextEnsure means that work is unfinished: make sure that a run is open.
	NextEnsure Next = "ensure"
	// NextReversal means that what became of the money may have changed: signal the workflow, starting it when it has closed.
	NextReversal Next = "review"
)

// known is what the ledger holds about an event and its order.
type known struct {
	EventNew   bool
	OrderNew   bool
	Dispatched bool
	HandedOver bool
	Payment    order.PaymentState
	Unfinished bool // an obligation is open

	waited bool // the event was not dispatched when it came
}

// next is the rule of what starts what.
func (k known) next() Next {
	settledEvent := !k.EventNew && k.Dispatched
	again := !k.EventNew && !k.waited // the same event once more, while its first copy is being dispatched
	switch {
	case !k.HandedOver && (k.OrderNew || again):
		return NextStart
	case !k.HandedOver:
		return NextStartOrCheck
	case k.Payment == order.PaymentConfirmed && k.Unfinished:
		return NextEnsure
	case k.Payment == order.PaymentConfirmed:
		return NextNothing
	case !settledEvent:
		return NextCheck
	case k.Payment == order.PaymentPending:
		return NextEnsure
	}
	return NextNothing
}

// storedEvent is what storeEvent returns.
type storedEvent struct {
	known
	Ignored bool
}

const storeEvent = `
WITH decided AS (
    SELECT @ignored OR @hint = 'expired' AND NOT EXISTS (SELECT FROM orders WHERE environment = @environment AND session = @session) AS ignored
), event AS (
    INSERT INTO webhook_events (environment, event_id, type, kind, hint, session, payment_ref, dispatched_at)
    SELECT @environment, @event, @type, @kind, @hint, nullif(@session, ''), nullif(@payment_ref, ''), CASE WHEN decided.ignored THEN now() END
    FROM decided
    ON CONFLICT DO NOTHING
    RETURNING 1
), new_order AS (
    INSERT INTO orders (environment, session) SELECT @environment, @session FROM decided WHERE NOT decided.ignored
    ON CONFLICT DO NOTHING
    RETURNING 1
)
SELECT (SELECT ignored FROM decided) AS ignored, EXISTS (SELECT FROM event) AS event_new, EXISTS (SELECT FROM new_order) AS order_new,
       coalesce((SELECT dispatched_at IS NOT NULL FROM webhook_events WHERE environment = @environment AND event_id = @event), false) AS dispatched,
       o.handed_over_at IS NOT NULL AS handed_over, coalesce(o.payment, 'pending') AS payment,
       o.handed_over_at IS NOT NULL AND EXISTS (
           SELECT FROM open_obligations b WHERE b.environment = @environment AND b.session = @session) AS unfinished
FROM (VALUES (1)) one LEFT JOIN orders o ON o.environment = @environment AND o.session = @session`

// StoreEvent stores an event and says what follows. One about a refund or a dispute names a payment: its order is found by
// that, and one that comes before its order waits for it.
func (l *Ledger) StoreEvent(ctx context.Context, e WebhookEvent) (Stored, error) {
	if e.Kind == kindOther && e.PaymentRef != "" && !e.Ignored {
		return l.storeOther(ctx, e)
	}
	reversal := e.Kind == kindRefund || e.Kind == kindDispute
	if reversal && e.PaymentRef+e.Session != "" && !e.Ignored {
		return l.storeReversal(ctx, e)
	}
	return l.storeCheckout(ctx, e)
}

// storeOther stores an event that names a payment. Where an order waits for it the event is about that order: the money
// may have come in a way that the session has no event for.
func (l *Ledger) storeOther(ctx context.Context, e WebhookEvent) (Stored, error) {
	err := l.pool.QueryRow(ctx, `
SELECT session FROM orders
WHERE environment = @environment AND payment_ref = @payment_ref AND payment IN ('pending', 'needs_attention')
ORDER BY created_at LIMIT 1`, pgx.StrictNamedArgs{"environment": e.Environment, "payment_ref": e.PaymentRef}).Scan(&e.Session)
	if err != nil && !noRows(err) {
		return Stored{}, safe("find the order that waits", err)
	}
	return l.storeCheckout(ctx, e)
}

// The kinds of events that name a payment, as payment.EventKind has them.
const (
	kindOther   = "other"
	kindRefund  = "refund"
	kindDispute = "dispute"
)

// storeCheckout stores an event, and the order row of a checkout session, in one statement and so one commit. The end of a
// checkout that is not in the ledger is kept and makes no order: most checkouts that expire were abandoned.
func (l *Ledger) storeCheckout(ctx context.Context, e WebhookEvent) (Stored, error) {
	rows, _ := l.pool.Query(ctx, storeEvent, pgx.StrictNamedArgs{
		"environment": e.Environment, "event": e.ID, "type": e.Type, "kind": e.Kind, "hint": e.Hint,
		"session": e.Session, "payment_ref": e.PaymentRef, "ignored": e.Ignored || e.Session == "",
	})
	k, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[storedEvent])
	if err != nil {
		return Stored{}, safe("store an event", err)
	}
	if k.Ignored {
		return Stored{New: k.EventNew}, nil
	}

	stored := Stored{New: k.EventNew, Session: e.Session, Next: k.next()}
	if stored.Next == NextNothing && !k.Dispatched {
		return stored, l.MarkDispatched(ctx, order.Key{Environment: e.Environment, Session: e.Session}, e.ID)
	}
	return stored, nil
}

// MarkDispatched notes that an event has reached its workflow, or brings nothing new. The straight path does not need
// it: there the mark rides on the payment's commit. The order is written before the event, as RecordPayment does it.
func (l *Ledger) MarkDispatched(ctx context.Context, key order.Key, event string) error {
	_, err := l.pool.Exec(ctx, `
WITH handed_over AS (
    UPDATE orders SET handed_over_at = now()
    WHERE environment = @environment AND session = @session AND handed_over_at IS NULL
    RETURNING 1
)
UPDATE webhook_events SET dispatched_at = coalesce(dispatched_at, now())
WHERE environment = @environment AND event_id = @event AND (SELECT count(*) FROM handed_over) >= 0`,
		orderArgs(key, pgx.StrictNamedArgs{"event": event}))
	failpoint.Hit("dispatch.marked")
	return safe("mark an event dispatched", err)
}

// EventPending says whether an event of an order came after its payment was checked last: a worker is to check it again.
func (l *Ledger) EventPending(ctx context.Context, key order.Key) (pending bool, err error) {
	err = l.pool.QueryRow(ctx, `
SELECT EXISTS (SELECT FROM webhook_events e JOIN orders o ON o.environment = e.environment AND o.session = e.session
               WHERE e.environment = @environment AND e.session = @session AND (o.looked_at IS NULL OR e.received_at > o.looked_at))`,
		orderArgs(key, nil)).Scan(&pending)
	return pending, safe("look for a pending event", err)
}

// Undispatched is an event that has not reached its workflow.
type Undispatched struct {
	Key   order.Key
	Event string
	Next  Next
}

// undispatchedRow is a row of selectUndispatched.
type undispatchedRow struct {
	order.Key
	Event      string
	Reversal   bool
	HandedOver bool
	Payment    order.PaymentState
	Unfinished bool
}

const selectUndispatched = `
SELECT e.environment, e.session, e.event_id AS event, e.kind IN ('refund', 'dispute') AS reversal,
       o.handed_over_at IS NOT NULL AS handed_over, o.payment,
       EXISTS (SELECT FROM open_obligations b WHERE b.environment = o.environment AND b.session = o.session) AS unfinished
FROM webhook_events e JOIN orders o ON o.environment = e.environment AND o.session = e.session
WHERE e.dispatched_at IS NULL AND e.received_at < now() - @grace::interval AND e.event_id <> ALL (@skip)
ORDER BY e.received_at LIMIT @limit`

// Undispatched lists events that have waited for longer than grace, oldest first, without those to skip.
func (l *Ledger) Undispatched(ctx context.Context, grace time.Duration, skip []string, limit int) ([]Undispatched, error) {
	rows, _ := l.pool.Query(ctx, selectUndispatched, pgx.StrictNamedArgs{"grace": grace, "skip": skip, "limit": limit})
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[undispatchedRow])
	if err != nil {
		return nil, safe("list undispatched events", err)
	}
	events := make([]Undispatched, len(found))
	for i, row := range found {
		k := known{HandedOver: row.HandedOver, Payment: row.Payment, Unfinished: row.Unfinished, waited: true}
		events[i] = Undispatched{Key: row.Key, Event: row.Event, Next: k.next()}
		if row.Reversal {
			events[i].Next = NextReversal
		}
	}
	return events, nil
}
