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

// Kind is the kind of an obligation. It is also the step that stops when the obligation does.
type Kind string

// The kinds of obligations.
const (
	KindAccess       = Kind(order.StepAccess)
	KindAccessChange = Kind(order.StepAccessChange)
	KindEmail        = Kind(order.StepEmail)
)

// ObligationID names one obligation.
type ObligationID struct {
	Key     order.Key
	Kind    Kind
	Subject string
}

// EmailObligation names the obligation to send one generation of the access email.
func EmailObligation(key order.Key, generation int) ObligationID {
	return ObligationID{Key: key, Kind: KindEmail, Subject: strconv.Itoa(generation)}
}

// args are the named arguments of a statement about the obligation, and those given beside its name.
func (w ObligationID) args(more pgx.StrictNamedArgs) pgx.StrictNamedArgs {
	args := orderArgs(w.Key, more)
	args["kind"], args["subject"] = w.Kind, w.Subject
	return args
}

// LeaseOptions bound a claim.
type LeaseOptions struct {
	Duration    time.Duration // how long the claim lasts, by the database clock
	MaxAttempts int           // attempts after which nothing is claimed any more
	Window      time.Duration // how long after the first attempt another may start; 0 for ever
}

// NotClaimable says why there was nothing to claim.
type NotClaimable string

// The reasons why there is nothing to claim.
const (
	ClaimFinished   NotClaimable = "finished"
	ClaimHeld       NotClaimable = "held"
	ClaimExhausted  NotClaimable = "spent"
	ClaimPastWindow NotClaimable = "past_window"
	ClaimStopped    NotClaimable = "stopped"
	ClaimAbsent     NotClaimable = "absent"
	ClaimSuspended  NotClaimable = "resting" // not desired while access has ended or is held
)

// NotClaimableError is returned where there was nothing to claim.
type NotClaimableError struct {
	Why   NotClaimable
	Class order.Class   // the last failure's, when Why is stopped
	Until time.Duration // how long the other's claim still lasts, when Why is held
}

func (e *NotClaimableError) Error() string { return "not claimable: " + string(e.Why) }

// ErrLeaseLost means that a finish or a release came without the claim: it expired, or another has it. Nothing was changed.
var ErrLeaseLost = errors.New("the claim is no longer ours")

// claim is the one statement that gives the right to work: on what is unfinished and desired, unclaimed or expired, within
// its attempts and within its window.
const claim = `
UPDATE obligations SET
    token = gen_random_uuid(),
    claim_expires_at = clock_timestamp() + @duration::interval,
    attempts = attempts + 1,
    first_attempt_at = coalesce(first_attempt_at, clock_timestamp()),
    last_attempt_at = clock_timestamp()
WHERE environment = @environment AND session = @session AND kind = @kind AND subject = @subject
  AND finished_at IS NULL AND stopped_at IS NULL
  AND (claim_expires_at IS NULL OR claim_expires_at <= clock_timestamp())
  AND attempts < @max_attempts AND wanted = 'granted'
  AND (first_attempt_at IS NULL OR @window::interval = '0' OR clock_timestamp() < first_attempt_at + @window::interval)
RETURNING token::text, attempts, payload, coalesce(link_secret, '') AS link_secret, coalesce(link_base, '') AS link_base`

// obligationState is what an obligation says about why it cannot be claimed.
type obligationState struct {
	Finished, Stopped, Suspended, Held, Exhausted, Past bool

	Class order.Class
	Until time.Duration
}

const selectObligationState = `
SELECT finished_at IS NOT NULL AS finished, stopped_at IS NOT NULL AS stopped, wanted <> 'granted' AS suspended,
       coalesce(claim_expires_at > clock_timestamp(), false) AS held, attempts >= @max_attempts AS exhausted,
       coalesce(@window::interval <> '0' AND clock_timestamp() >= first_attempt_at + @window::interval, false) AS past,
       coalesce(failure_class, '') AS class, greatest(coalesce(claim_expires_at - clock_timestamp(), '0'), '0') AS until
FROM obligations WHERE environment = @environment AND session = @session AND kind = @kind AND subject = @subject`

// notClaimable reads why claim found nothing. It reads a moment later: what has come free since then is said to be held
// for no time, so that it is asked for again.
func notClaimable(ctx context.Context, conn *pgx.Conn, w ObligationID, o LeaseOptions) error {
	rows, _ := conn.Query(ctx, selectObligationState, w.args(pgx.StrictNamedArgs{"max_attempts": o.MaxAttempts, "window": o.Window}))
	s, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[obligationState])
	switch {
	case noRows(err):
		return &NotClaimableError{Why: ClaimAbsent}
	case err != nil:
		return safe("read a claim", err)
	case s.Finished:
		return &NotClaimableError{Why: ClaimFinished}
	case s.Stopped:
		return &NotClaimableError{Why: ClaimStopped, Class: s.Class}
	case s.Suspended:
		return &NotClaimableError{Why: ClaimSuspended}
	case s.Held:
		return &NotClaimableError{Why: ClaimHeld, Until: s.Until}
	case s.Exhausted:
		return &NotClaimableError{Why: ClaimExhausted}
	case s.Past:
		return &NotClaimableError{Why: ClaimPastWindow}
	}
	return &NotClaimableError{Why: ClaimHeld}
}

// Finish records that the work is done, with the provider's id of what was made. Only the holder of the claim can, and
// only while it lasts; anybody else gets ErrLeaseLost. What is finished needs no person any more, unless a newer
// generation has superseded it: then the attention is the newer one's. It returns how the order stands then.
func (l *Ledger) Finish(ctx context.Context, w ObligationID, token, providerID string) (order.Snapshot, error) {
	var now order.Snapshot
	var finished pgconn.CommandTag
	batch := &pgx.Batch{} // one round trip and one commit
	batch.Queue(lockToChange, orderArgs(w.Key, nil))
	batch.Queue(`
WITH done AS (
    UPDATE obligations SET finished_at = now(), provider_id = nullif(@provider_id, ''), token = NULL, claim_expires_at = NULL, failure_class = NULL
    WHERE environment = @environment AND session = @session AND kind = @kind AND subject = @subject
      AND token = @token::uuid AND claim_expires_at > clock_timestamp() AND finished_at IS NULL
    RETURNING superseded_at
), cleared AS (
    DELETE FROM attention
    WHERE environment = @environment AND session = @session AND (step = @kind AND EXISTS (SELECT FROM done WHERE superseded_at IS NULL) AND NOT `+cameBack+`
      OR step = 'progress' AND EXISTS (SELECT FROM done))
), returned AS (
    INSERT INTO attention (environment, session, step, reason)
    SELECT @environment, @session, 'email', @bounced::text FROM done WHERE superseded_at IS NULL AND `+cameBack+attentionAgain+`
)
SELECT FROM done`, w.args(pgx.StrictNamedArgs{"token": token, "provider_id": providerID, "bounced": order.ReasonEmailBounced})).
		Exec(func(tag pgconn.CommandTag) error { finished = tag; return nil })
	queueSnapshot(batch, w.Key, &now)
	err := l.pool.SendBatch(ctx, batch).Close()
	return now, lost(finished.RowsAffected(), safe("finish a step", err))
}

// Release gives the claim back after a failed attempt, so that the next one need not wait for its expiry. An attempt
// that does not count (a rate limit) is taken off the count. The window stays where it began: an attempt that counted may
// have been taken off the count since, by a retry, and nothing says any more that this one was the first. wait is how long
// the next attempt takes to come.
func (l *Ledger) Release(ctx context.Context, w ObligationID, token string, class order.Class, counts bool, wait time.Duration) error {
	tag, err := l.pool.Exec(ctx, `
UPDATE obligations SET token = NULL, claim_expires_at = NULL, failure_class = @class,
    next_attempt_at = clock_timestamp() + @wait::interval, attempts = attempts - CASE WHEN @counts THEN 0 ELSE 1 END
WHERE environment = @environment AND session = @session AND kind = @kind AND subject = @subject
  AND token = @token::uuid AND claim_expires_at > clock_timestamp() AND finished_at IS NULL`,
		w.args(pgx.StrictNamedArgs{"token": token, "class": class, "counts": counts, "wait": wait}))
	return lost(tag.RowsAffected(), safe("release a step", err))
}

// Stop ends the automatic attempts and marks the order for a person. The token may be empty when no attempt is under
// way. A claim that another holds is not touched: without a token that is a *NotClaimableError that says how long it
// lasts, so that the mark is made later. The order is locked before its obligation, as everywhere. ErrLeaseLost means
// that the obligation has ended already.
func (l *Ledger) Stop(ctx context.Context, w ObligationID, token string, class order.Class, reason order.Reason) error {
	var stopped bool
	var until time.Duration
	err := l.pool.QueryRow(ctx, `
WITH locked AS MATERIALIZED (
    SELECT FROM orders WHERE environment = @environment AND session = @session FOR NO KEY UPDATE
), stopped AS (
    UPDATE obligations SET stopped_at = now(), failure_class = @class, token = NULL, claim_expires_at = NULL
    WHERE environment = @environment AND session = @session AND kind = @kind AND subject = @subject
      AND finished_at IS NULL AND stopped_at IS NULL AND EXISTS (SELECT FROM locked)
      AND (token = nullif(@token, '')::uuid OR claim_expires_at IS NULL OR claim_expires_at <= clock_timestamp())
    RETURNING 1
), marked AS (
    INSERT INTO attention (environment, session, step, reason, class)
    SELECT @environment, @session, @kind, @reason::text, @class WHERE EXISTS (SELECT FROM stopped)`+attentionAgain+`
)
SELECT EXISTS (SELECT FROM stopped), coalesce((
    SELECT claim_expires_at - clock_timestamp() FROM obligations
    WHERE environment = @environment AND session = @session AND kind = @kind AND subject = @subject
      AND finished_at IS NULL AND stopped_at IS NULL AND claim_expires_at > clock_timestamp()), '0')`,
		w.args(pgx.StrictNamedArgs{"token": token, "class": class, "reason": reason})).Scan(&stopped, &until)
	switch {
	case err != nil:
		return safe("stop a step", err)
	case stopped:
		return nil
	case token == "" && until > 0:
		return &NotClaimableError{Why: ClaimHeld, Until: until}
	}
	return ErrLeaseLost
}

func lost(rows int64, err error) error {
	if err == nil && rows == 0 {
		return ErrLeaseLost
	}
	return err
}

func noRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }
