package ledger

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// EmailEvidence is what became of an event of the email provider.
type EmailEvidence struct {
	Ours    bool      // it is about a message of ours, and kept
	Settled bool      // it has put an order on the attention list, or taken it off
	Key     order.Key // the order that its tags name; zero where they name none
}

// RecordEmailEvent keeps what the email provider reports of a message of ours, once for each event id. A message is ours
// when it carries our tags, also while its order is not in the ledger (which may have been restored from a backup), or
// when its id is on an email. An email that had stopped, and of which nobody knew whether it arrived, is thereby known to
// have been accepted. One that came back needs a person, and so does one that the provider could not send at all: that is
// accepted no more.
func (l *Ledger) RecordEmailEvent(ctx context.Context, e order.EmailEvent) (EmailEvidence, error) {
	key := order.Key{Environment: e.Tags[order.TagEnvironment], Session: e.Tags[order.TagSession]}
	generation, err := strconv.Atoi(e.Tags[order.TagGeneration])
	if err != nil || generation < 1 || generation > order.MostGenerations || !key.Valid() {
		key, generation = order.Key{}, 0 // not our tags: it is joined by the message's id alone
	}
	var occurred any
	if !e.OccurredAt.IsZero() {
		occurred = e.OccurredAt
	}
	found := EmailEvidence{Key: key}
	err = l.pool.QueryRow(ctx, recordEmailEvent, orderArgs(key, pgx.StrictNamedArgs{
		"event": e.ID, "type": e.Type, "message": e.MessageID, "delivery": e.Delivery, "detail": e.Detail,
		"generation": generation, "occurred": occurred, "reason": e.Delivery.Reason(),
	})).Scan(&found.Ours, &found.Settled)
	return found, safe("record an email event", err)
}

const recordEmailEvent = `
WITH ours AS MATERIALIZED (
    SELECT @session <> '' OR EXISTS (SELECT FROM obligations WHERE provider_id = @message) AS it,
           EXISTS (SELECT FROM orders WHERE environment = @environment AND session = @session AND erased_at IS NOT NULL)
           OR EXISTS (SELECT FROM obligations b JOIN orders o USING (environment, session)
                      WHERE b.provider_id = @message AND o.erased_at IS NOT NULL) AS erased
), kept AS (
    INSERT INTO email_evidence (event_id, type, message_id, delivery, detail, environment, session, generation, occurred_at)
    SELECT @event, @type, @message, @delivery, CASE WHEN erased THEN '' ELSE @detail END, nullif(@environment, ''), nullif(@session, ''), nullif(@generation::int, 0), @occurred::timestamptz
    FROM ours WHERE it
    ON CONFLICT DO NOTHING
    RETURNING 1
), locked AS MATERIALIZED (
    SELECT FROM orders WHERE environment = @environment AND session = @session FOR NO KEY UPDATE
), accepted AS (
    UPDATE obligations b SET finished_at = coalesce(b.first_attempt_at, now()), stopped_at = NULL, provider_id = @message, failure_class = NULL
    FROM locked
    WHERE b.environment = @environment AND b.session = @session AND b.kind = 'email' AND b.subject = (@generation::int)::text
      AND b.finished_at IS NULL AND b.stopped_at IS NOT NULL AND b.superseded_at IS NULL
      AND @delivery <> 'failed' -- which proves no acceptance, and is not undone by a late report that it was taken
      AND (b.provider_id IS NULL OR @delivery NOT IN ('sent', 'delayed'))
    RETURNING 1
), cleared AS (
    DELETE FROM attention
    WHERE environment = @environment AND session = @session AND step = 'email' AND EXISTS (SELECT FROM accepted) AND @reason = ''
      AND NOT EXISTS (SELECT FROM obligations n WHERE n.environment = @environment AND n.session = @session
                      AND n.kind = 'email' AND n.subject::int > @generation::int)
    RETURNING 1
), newest AS MATERIALIZED (
    SELECT b.environment, b.session, b.subject FROM obligations b, locked
    WHERE b.environment = @environment AND b.session = @session AND b.kind = 'email' AND b.subject = (@generation::int)::text
      AND (b.finished_at IS NOT NULL OR EXISTS (SELECT FROM accepted)) AND EXISTS (SELECT FROM kept)
      AND NOT EXISTS (SELECT FROM obligations n WHERE n.environment = b.environment AND n.session = b.session
                      AND n.kind = 'email' AND n.subject::int > b.subject::int)
), unsent AS (
    UPDATE obligations b SET finished_at = NULL, stopped_at = now(), failure_class = 'misconfigured' FROM newest n
    WHERE b.environment = n.environment AND b.session = n.session AND b.kind = 'email' AND b.subject = n.subject AND @delivery = 'failed'
), marked AS (
    INSERT INTO attention (environment, session, step, reason, class)
    SELECT environment, session, 'email', @reason::text, CASE WHEN @delivery = 'failed' THEN 'misconfigured' ELSE '' END
    FROM newest WHERE @reason <> ''` + attentionAgain + `
    RETURNING 1
)
SELECT it, EXISTS (SELECT FROM cleared) OR EXISTS (SELECT FROM marked) FROM ours`

// cameBack says that the provider has reported of an email, before it was known to be accepted, that it came back.
const cameBack = `(@kind = 'email' AND EXISTS (SELECT FROM email_evidence v
    WHERE v.environment = @environment AND v.session = @session AND v.generation::text = @subject AND v.delivery IN ('bounced', 'suppressed')))`

// AcceptByEvidence finishes an email that the provider's own events show to have been accepted: they carry our tags, also
// when the response to the call was lost. It was accepted when it was first attempted, and not when the event came. It
// says whether there was such an event. The token may be empty when no attempt is under way; a claim that another holds
// is left to it.
func (l *Ledger) AcceptByEvidence(ctx context.Context, w ObligationID, token string) (bool, error) {
	tag, err := l.pool.Exec(ctx, `
WITH locked AS MATERIALIZED (
    SELECT FROM orders WHERE environment = @environment AND session = @session FOR NO KEY UPDATE
), evidence AS (
    SELECT message_id FROM email_evidence
    WHERE environment = @environment AND session = @session AND generation::text = @subject AND delivery <> 'failed' ORDER BY received_at LIMIT 1
), done AS (
    UPDATE obligations b SET finished_at = coalesce(b.first_attempt_at, now()), provider_id = evidence.message_id,
        token = NULL, claim_expires_at = NULL, failure_class = NULL
    FROM evidence, locked
    WHERE b.environment = @environment AND b.session = @session AND b.kind = @kind AND b.subject = @subject
      AND b.finished_at IS NULL AND b.stopped_at IS NULL
      AND (b.token = nullif(@token, '')::uuid OR b.claim_expires_at IS NULL OR b.claim_expires_at <= clock_timestamp())
    RETURNING 1
), returned AS (
    INSERT INTO attention (environment, session, step, reason)
    SELECT @environment, @session, 'email', @bounced::text FROM done WHERE `+cameBack+attentionAgain+`
)
SELECT FROM done`, w.args(pgx.StrictNamedArgs{"token": token, "bounced": order.ReasonEmailBounced}))
	return tag.RowsAffected() > 0, safe("accept an email by evidence", err)
}
