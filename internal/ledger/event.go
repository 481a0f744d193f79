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
	Body        []byte // the raw bytes
}

// Stored says what became of an event and what has to happen next.
type Stored struct {
	New  bool
	Next Next
}

// Next is what an event asks of Temporal. The ledger decides it: Temporal forgets a workflow ID after retention.
type Next string

// What follows a stored event.
const (
	// NextNothing means that the event brings nothing new.
	NextNothing Next = ""
	// NextStart means that the session was never handed over: start it, duplicates rejected.
	NextStart Next = "start"
	// NextStartOrCheck means the same for an event that is not the order's first: where a run was started in the meantime,
	// that one has to look again.
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
	eventNew   bool
	orderNew   bool
	dispatched bool
	handedOver bool
	payment    order.PaymentState
	unfinished bool // an obligation is open
	waited     bool // the event was not handed over when it came
}

// next is the rule of what starts what.
func (k known) next() Next {
	settledEvent := !k.eventNew && k.dispatched
	again := !k.eventNew && !k.waited // the same event once more, while its first copy is being handed over
	switch {
	case !k.handedOver && (k.orderNew || again):
		return NextStart
	case !k.handedOver:
		return NextStartOrCheck
	case k.payment == order.PaymentConfirmed && k.unfinished:
		return NextEnsure
	case k.payment == order.PaymentConfirmed:
		return NextNothing
	case !settledEvent:
		return NextCheck
	case k.payment == order.PaymentPending:
		return NextEnsure
	}
	return NextNothing
}

const storeEvent = `
WITH aside AS (
    SELECT $9 OR $5 = 'expired' AND NOT EXISTS (SELECT FROM orders WHERE environment = $1 AND session = $6) AS it
), event AS (
    INSERT INTO webhook_events (environment, event_id, type, kind, hint, session, payment_ref, body, dispatched_at)
    SELECT $1, $2, $3, $4, $5, nullif($6, ''), nullif($7, ''), $8, CASE WHEN aside.it THEN now() END FROM aside
    ON CONFLICT DO NOTHING
    RETURNING 1
), new_order AS (
    INSERT INTO orders (environment, session) SELECT $1, $6 FROM aside WHERE NOT aside.it ON CONFLICT DO NOTHING
    RETURNING 1
)
SELECT (SELECT it FROM aside), EXISTS (SELECT FROM event), EXISTS (SELECT FROM new_order),
       coalesce((SELECT dispatched_at IS NOT NULL FROM webhook_events WHERE environment = $1 AND event_id = $2), false),
       o.handed_over_at IS NOT NULL, coalesce(o.payment, 'pending'),
       o.handed_over_at IS NOT NULL AND EXISTS (
           SELECT FROM obligations b WHERE b.environment = $1 AND b.session = $6 AND b.finished_at IS NULL AND b.stopped_at IS NULL
             AND (b.wanted = 'granted' OR b.kind = 'revoke'))
FROM (VALUES (1)) one LEFT JOIN orders o ON o.environment = $1 AND o.session = $6`

// StoreEvent stores an event, and the order row of a checkout session, in one statement and so one commit. The end of a
// checkout that nobody has told of is kept and makes no order: most checkouts that expire were abandoned.
func (l *Ledger) StoreEvent(ctx context.Context, e WebhookEvent) (Stored, error) {
	ignored := e.Ignored || e.Session == ""
	var k known
	err := l.pool.QueryRow(ctx, storeEvent, e.Environment, e.ID, e.Type, e.Kind, e.Hint, e.Session, e.PaymentRef, e.Body, ignored).
		Scan(&ignored, &k.eventNew, &k.orderNew, &k.dispatched, &k.handedOver, &k.payment, &k.unfinished)
	if err != nil {
		return Stored{}, safe("store an event", err)
	}
	if ignored {
		return Stored{New: k.eventNew}, nil
	}
	stored := Stored{New: k.eventNew, Next: k.next()}
	if stored.Next == NextNothing && !k.dispatched {
		return stored, l.MarkDispatched(ctx, order.Key{Environment: e.Environment, Session: e.Session}, e.ID)
	}
	return stored, nil
}

// MarkDispatched notes that an event has reached its workflow, or brings nothing new. The straight path does not need
// it: there the mark rides on the payment's commit.
func (l *Ledger) MarkDispatched(ctx context.Context, key order.Key, event string) error {
	_, err := l.pool.Exec(ctx, `
WITH handed AS (
    UPDATE orders SET handed_over_at = now() WHERE environment = $1 AND session = $3 AND handed_over_at IS NULL
)
UPDATE webhook_events SET dispatched_at = coalesce(dispatched_at, now()) WHERE environment = $1 AND event_id = $2`,
		key.Environment, event, key.Session)
	failpoint.Hit("dispatch.marked")
	return safe("mark an event dispatched", err)
}

// Undispatched is an event that has not reached its workflow.
type Undispatched struct {
	Key   order.Key
	Event string
	Next  Next
}

// Undispatched lists events that have waited for longer than grace, oldest first.
func (l *Ledger) Undispatched(ctx context.Context, grace time.Duration, limit int) ([]Undispatched, error) {
	rows, err := l.pool.Query(ctx, `
SELECT e.environment, e.session, e.event_id, e.kind IN ('refund', 'dispute'), o.handed_over_at IS NOT NULL, o.payment,
       EXISTS (SELECT FROM obligations b WHERE b.environment = o.environment AND b.session = o.session
               AND b.finished_at IS NULL AND b.stopped_at IS NULL AND (b.wanted = 'granted' OR b.kind = 'revoke'))
FROM webhook_events e JOIN orders o ON o.environment = e.environment AND o.session = e.session
WHERE e.dispatched_at IS NULL AND e.received_at < now() - $1::interval
ORDER BY e.received_at LIMIT $2`, grace, limit)
	if err != nil {
		return nil, safe("list undispatched events", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Undispatched, error) {
		var u Undispatched
		k := known{waited: true}
		var reversal bool
		err := row.Scan(&u.Key.Environment, &u.Key.Session, &u.Event, &reversal, &k.handedOver, &k.payment, &k.unfinished)
		if u.Next = k.next(); reversal {
			u.Next = NextReversal
		}
		return u, err
	})
	return found, safe("list undispatched events", err)
}
