package ledger

import (
	"context"
	"strconv"

	"handover/internal/order"
)

// RecordEmailEvent keeps what the email provider told, once for each event id. An email that had stopped, and of which
// nobody knew whether it arrived, is proved by it to have been accepted.
func (l *Ledger) RecordEmailEvent(ctx context.Context, e order.EmailEvent, body []byte) error {
	_, _, err := l.SettleByEmailEvent(ctx, e, body)
	return err
}

// SettleByEmailEvent is RecordEmailEvent, and says whether the event has taken an order off the attention list.
func (l *Ledger) SettleByEmailEvent(ctx context.Context, e order.EmailEvent, body []byte) (key order.Key, settled bool, err error) {
	key = order.Key{Environment: e.Tags[order.TagEnvironment], Session: e.Tags[order.TagSession]}
	generation, err := strconv.Atoi(e.Tags[order.TagGeneration])
	if err != nil || generation < 1 || generation > order.MostGenerations || !key.Valid() {
		key, generation = order.Key{}, 0 // not our tags: it is joined by the message's id alone
	}
	var occurred any
	if !e.OccurredAt.IsZero() {
		occurred = e.OccurredAt
	}
	tag, err := l.pool.Exec(ctx, `
WITH kept AS (
    INSERT INTO email_evidence (event_id, type, message_id, delivery, detail, environment, session, generation, occurred_at, body)
    VALUES ($1, $2, $3, $4, $5, nullif($6, ''), nullif($7, ''), nullif($8::int, 0), $9, $10)
    ON CONFLICT DO NOTHING
), locked AS MATERIALIZED (
    SELECT FROM orders WHERE environment = $6 AND session = $7 FOR NO KEY UPDATE
), proved AS (
    UPDATE obligations b SET finished_at = coalesce(b.first_attempt_at, now()), stopped_at = NULL, provider_id = $3, failure_class = NULL
    FROM locked
    WHERE b.environment = $6 AND b.session = $7 AND b.kind = 'email' AND b.subject = ($8::int)::text
      AND b.finished_at IS NULL AND b.stopped_at IS NOT NULL AND b.superseded_at IS NULL
    RETURNING 1
)
UPDATE orders SET attention_step = NULL, attention_reason = NULL, attention_class = NULL, attention_at = NULL
WHERE environment = $6 AND session = $7 AND attention_step = 'email' AND EXISTS (SELECT FROM proved)
  AND NOT EXISTS (SELECT FROM obligations n WHERE n.environment = $6 AND n.session = $7 AND n.kind = 'email' AND n.subject::int > $8::int)`, e.ID, e.Type, e.MessageID, e.Delivery, e.Detail,
		key.Environment, key.Session, generation, occurred, body)
	if settled = tag.RowsAffected() > 0; err == nil && settled {
		_, err = attendAgain(ctx, l.pool, key)
	}
	return key, settled, safe("record an email event", err)
}

// AcceptByEvidence finishes an email that the provider's own events prove to have been taken: they carry our tags, also
// when the answer to the call was lost. It was accepted then, and not when the event came. It says whether there was such a proof. The token may be empty when no attempt is
// under way; a claim that another holds is left to it.
func (l *Ledger) AcceptByEvidence(ctx context.Context, w ObligationID, token string) (bool, error) {
	tag, err := l.pool.Exec(ctx, `
WITH locked AS MATERIALIZED (
    SELECT FROM orders WHERE environment = $1 AND session = $2 FOR NO KEY UPDATE
), proof AS (
    SELECT message_id FROM email_evidence
    WHERE environment = $1 AND session = $2 AND generation::text = $4 ORDER BY received_at LIMIT 1
), done AS (
    UPDATE obligations b SET finished_at = coalesce(b.first_attempt_at, now()), provider_id = proof.message_id, token = NULL, claim_expires_at = NULL, failure_class = NULL
    FROM proof, locked
    WHERE b.environment = $1 AND b.session = $2 AND b.kind = $3 AND b.subject = $4 AND b.finished_at IS NULL AND b.stopped_at IS NULL
      AND (b.token = nullif($5, '')::uuid OR b.claim_expires_at IS NULL OR b.claim_expires_at <= clock_timestamp())
    RETURNING 1
)
SELECT FROM done`, w.Key.Environment, w.Key.Session, w.Kind, w.Subject, token)
	return tag.RowsAffected() > 0, safe("accept an email by evidence", err)
}
