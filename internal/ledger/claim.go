package ledger

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"handover/internal/order"
)

// Kind is the kind of an obligation.
type Kind string

// The kinds of obligations.
const (
	KindAccess       Kind = "access"
	KindEmail        Kind = "email"
	KindAccessChange Kind = "revoke"
)

// Work names one obligation.
type ObligationID struct {
	Key     order.Key
	Kind    Kind
	Subject string
}

// EmailObligation names the obligation to send one generation of the access email.
func EmailObligation(key order.Key, generation int) ObligationID {
	return ObligationID{Key: key, Kind: KindEmail, Subject: strconv.Itoa(generation)}
}

// Terms bound a claim.
type LeaseOptions struct {
	Duration    time.Duration // how long the claim lasts, by the database clock
	MaxAttempts int           // attempts after which the work is spent
	Window      time.Duration // how long after the first attempt another may start; 0 for ever
}

// NotClaimable says why there was nothing to claim.
type NotClaimable string

// The reasons why a claim is denied.
const (
	ClaimFinished   NotClaimable = "finished"
	ClaimHeld       NotClaimable = "held"
	ClaimExhausted  NotClaimable = "spent"
	ClaimPastWindow NotClaimable = "past_window"
	ClaimStopped    NotClaimable = "stopped"
	ClaimAbsent     NotClaimable = "absent"
	ClaimSuspended  NotClaimable = "resting" // owed, and not wanted while access has ended or is held
)

// NotClaimableError is the answer to a claim that was not given.
type NotClaimableError struct {
	Why   NotClaimable
	Class order.Class   // the last failure's, when Why is stopped
	Until time.Duration // how long the other's claim still lasts, when Why is held
}

func (e *NotClaimableError) Error() string { return "claim denied: " + string(e.Why) }

// ErrLeaseLost means that a finish or a release came without the claim: it expired, or another has it. Nothing was changed.
var ErrLeaseLost = errors.New("the claim is no longer ours")

// claim is the one statement that gives the right to work: on what is unfinished and wanted, unclaimed or expired, within
// its attempts and within its window.
const claim = `
UPDATE obligations SET
    token = gen_random_uuid(),
    claim_expires_at = clock_timestamp() + $5::interval,
    attempts = attempts + 1,
    first_attempt_at = coalesce(first_attempt_at, clock_timestamp()),
    last_attempt_at = clock_timestamp()
WHERE environment = $1 AND session = $2 AND kind = $3 AND subject = $4
  AND finished_at IS NULL AND stopped_at IS NULL
  AND (claim_expires_at IS NULL OR claim_expires_at <= clock_timestamp())
  AND attempts < $6 AND wanted = 'granted'
  AND (first_attempt_at IS NULL OR $7::interval = '0' OR clock_timestamp() < first_attempt_at + $7::interval)
RETURNING token::text, attempts, payload, coalesce(link_secret, '') AS link_secret`

// denied reads why the statement above found nothing. It looks a moment later: what has come free since then is said to
// be held for no time, so that it is asked for again.
func denied(ctx context.Context, tx *pgx.Conn, w ObligationID, t LeaseOptions) error {
	var finished, stopped, resting, held, spent, past bool
	var class order.Class
	var until time.Duration
	err := tx.QueryRow(ctx, `
SELECT finished_at IS NOT NULL, stopped_at IS NOT NULL, wanted <> 'granted', coalesce(claim_expires_at > clock_timestamp(), false), attempts >= $5,
       coalesce($6::interval <> '0' AND clock_timestamp() >= first_attempt_at + $6::interval, false),
       coalesce(failure_class, ''), greatest(coalesce(claim_expires_at - clock_timestamp(), '0'), '0')
FROM obligations WHERE environment = $1 AND session = $2 AND kind = $3 AND subject = $4`,
		w.Key.Environment, w.Key.Session, w.Kind, w.Subject, t.MaxAttempts, t.Window).Scan(&finished, &stopped, &resting, &held, &spent, &past, &class, &until)
	switch {
	case noRows(err):
		return &NotClaimableError{Why: ClaimAbsent}
	case err != nil:
		return safe("read a claim", err)
	case finished:
		return &NotClaimableError{Why: ClaimFinished}
	case stopped:
		return &NotClaimableError{Why: ClaimStopped, Class: class}
	case resting:
		return &NotClaimableError{Why: ClaimSuspended}
	case held:
		return &NotClaimableError{Why: ClaimHeld, Until: until}
	case spent:
		return &NotClaimableError{Why: ClaimExhausted}
	case past:
		return &NotClaimableError{Why: ClaimPastWindow}
	}
	return &NotClaimableError{Why: ClaimHeld}
}

// Finish records that the work is done, with the provider's id of what was made. Only the holder of the claim can, and
// only while it lasts; anybody else gets ErrLeaseLost. What is finished needs no person any more, unless something newer has
// taken its place: then the attention is the newer one's.
func (l *Ledger) Finish(ctx context.Context, w ObligationID, token, providerID string) (order.Snapshot, error) {
	var now order.Snapshot
	var finished pgconn.CommandTag
	batch := &pgx.Batch{} // one round trip and one commit
	batch.Queue(lockToChange, w.Key.Environment, w.Key.Session)
	batch.Queue(`
WITH done AS (
    UPDATE obligations SET finished_at = now(), provider_id = nullif($6, ''), token = NULL, claim_expires_at = NULL, failure_class = NULL
    WHERE environment = $1 AND session = $2 AND kind = $3 AND subject = $4
      AND token = $5::uuid AND claim_expires_at > clock_timestamp() AND finished_at IS NULL
    RETURNING superseded_at
), settled AS (
    UPDATE orders SET attention_reason = NULL, attention_class = NULL, attention_at = NULL
    WHERE environment = $1 AND session = $2 AND attention_step = $3 AND EXISTS (SELECT FROM done WHERE superseded_at IS NULL)
)
SELECT 1 FROM done`, w.Key.Environment, w.Key.Session, w.Kind, w.Subject, token, providerID).
		Exec(func(tag pgconn.CommandTag) error { finished = tag; return nil })
	queueSnapshot(batch, w.Key, &now)
	err := l.pool.SendBatch(ctx, batch).Close()
	return now, lost(finished.RowsAffected(), safe("finish a step", err))
}

// Release gives the claim back after a failed attempt, so that the next one need not wait for its expiry. An attempt
// that is not spent (a rate limit) is taken off the count. The window stays where it began: an attempt that counted may
// have been taken off the count since, by a retry, and nothing says any more that this one was the first.
func (l *Ledger) Release(ctx context.Context, w ObligationID, token string, class order.Class, spent bool) error {
	tag, err := l.pool.Exec(ctx, `
UPDATE obligations SET token = NULL, claim_expires_at = NULL, failure_class = $6,
    attempts = attempts - CASE WHEN $7 THEN 0 ELSE 1 END
WHERE environment = $1 AND session = $2 AND kind = $3 AND subject = $4
  AND token = $5::uuid AND claim_expires_at > clock_timestamp() AND finished_at IS NULL`,
		w.Key.Environment, w.Key.Session, w.Kind, w.Subject, token, class, spent)
	return lost(tag.RowsAffected(), safe("release a step", err))
}

// Stop ends the automatic attempts and marks the order for a person. The token may be empty when no attempt is under
// way; a claim that another holds is not touched. The order is locked before its obligation, as everywhere.
func (l *Ledger) Stop(ctx context.Context, w ObligationID, token string, class order.Class, reason order.Reason) error {
	tag, err := l.pool.Exec(ctx, `
WITH locked AS MATERIALIZED (
    SELECT FROM orders WHERE environment = $1 AND session = $2 FOR NO KEY UPDATE
), stopped AS (
    UPDATE obligations SET stopped_at = now(), failure_class = $6, token = NULL, claim_expires_at = NULL
    WHERE environment = $1 AND session = $2 AND kind = $3 AND subject = $4 AND finished_at IS NULL AND stopped_at IS NULL
      AND EXISTS (SELECT FROM locked)
      AND (token = nullif($5, '')::uuid OR claim_expires_at IS NULL OR claim_expires_at <= clock_timestamp())
    RETURNING 1
)
UPDATE orders SET attention_reason = $7, attention_class = $6, attention_step = $3, attention_at = now()
WHERE environment = $1 AND session = $2 AND EXISTS (SELECT FROM stopped)`,
		w.Key.Environment, w.Key.Session, w.Kind, w.Subject, token, class, reason)
	return lost(tag.RowsAffected(), safe("stop a step", err))
}

// StopPayment marks an order whose payment could not be looked up, and the event that made us look. A confirmed payment
// stays confirmed.
func (l *Ledger) StopPayment(ctx context.Context, key order.Key, event string, class order.Class, reason order.Reason) error {
	_, err := l.pool.Exec(ctx, `
WITH told AS (
    UPDATE webhook_events SET dispatched_at = coalesce(dispatched_at, now()) WHERE environment = $1 AND event_id = $5
)
UPDATE orders SET payment = 'needs_attention', attention_reason = $4, attention_class = $3, attention_step = 'payment',
    attention_at = now(), looked_at = now(), handed_over_at = coalesce(handed_over_at, now())
WHERE environment = $1 AND session = $2 AND payment <> 'confirmed'`, key.Environment, key.Session, class, reason, event)
	return safe("stop a payment", err)
}

// StopAccess marks an order whose access could not be granted, and everything of it that is still owed.
func (l *Ledger) StopAccess(ctx context.Context, key order.Key, class order.Class, reason order.Reason) error {
	tag, err := l.pool.Exec(ctx, `
WITH stopped AS (
    UPDATE obligations SET stopped_at = now(), failure_class = $3
    WHERE environment = $1 AND session = $2 AND kind = 'access' AND finished_at IS NULL AND stopped_at IS NULL
    RETURNING 1
)
UPDATE orders SET attention_reason = $4, attention_class = $3, attention_step = 'access', attention_at = now()
WHERE environment = $1 AND session = $2 AND EXISTS (SELECT FROM stopped)`, key.Environment, key.Session, class, reason)
	return lost(tag.RowsAffected(), safe("stop access", err))
}

func lost(rows int64, err error) error {
	if err == nil && rows == 0 {
		return ErrLeaseLost
	}
	return err
}

func noRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }
