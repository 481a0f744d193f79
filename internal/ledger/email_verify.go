package ledger

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// AttemptedEmail is an email that was tried, and of which nothing says whether the provider took it.
type AttemptedEmail struct {
	Message     order.Message // as it was rendered, with the placeholder for the link
	First, Last time.Time     // when the first and the last attempt began, by the database clock
}

// Unverified reads an email that may have been accepted. It says false when there is nothing to find out: the email is
// finished, has been stopped, or no attempt was made at it.
func (l *Ledger) Unverified(ctx context.Context, w ObligationID) (AttemptedEmail, bool, error) {
	var a AttemptedEmail
	var payload []byte
	err := l.pool.QueryRow(ctx, `
SELECT payload, first_attempt_at, coalesce(last_attempt_at, first_attempt_at) FROM obligations
WHERE environment = @environment AND session = @session AND kind = @kind AND subject = @subject
  AND finished_at IS NULL AND stopped_at IS NULL AND payload IS NOT NULL AND first_attempt_at IS NOT NULL`, w.args(nil)).
		Scan(&payload, &a.First, &a.Last)
	if noRows(err) {
		return AttemptedEmail{}, false, nil
	}
	if err == nil {
		err = json.Unmarshal(payload, &a.Message)
	}
	return a, err == nil, safe("read an attempted email", err)
}

// AcceptByList finishes an email by the provider's list of what it has accepted: found are the ids of all messages that
// could be this one, by sender, recipient, subject and time. It does so only without any doubt: exactly one of them
// belongs to no other email of ours (a known id, or an event with another's tags), and no other email with the same
// recipient and subject was attempted within margin of the same time and lacks an id. It says whether that was so. The
// token may be empty when no attempt is under way; a claim that another holds is left to it.
func (l *Ledger) AcceptByList(ctx context.Context, w ObligationID, token string, found []string, margin time.Duration) (bool, error) {
	tag, err := l.pool.Exec(ctx, acceptByList, w.args(pgx.StrictNamedArgs{"token": token, "found": found, "margin": margin}))
	return tag.RowsAffected() > 0, safe("accept an email by the provider's list", err)
}

const acceptByList = `
WITH locked AS MATERIALIZED (
    SELECT FROM orders WHERE environment = @environment AND session = @session FOR NO KEY UPDATE
), this AS MATERIALIZED (
    SELECT recipient, convert_from(payload, 'UTF8')::json ->> 'subject' AS subject,
           first_attempt_at - @margin::interval AS since, coalesce(last_attempt_at, first_attempt_at) + @margin::interval AS until
    FROM obligations
    WHERE environment = @environment AND session = @session AND kind = @kind AND subject = @subject AND payload IS NOT NULL
), free AS MATERIALIZED (
    SELECT DISTINCT id FROM unnest(@found::text[]) id
    WHERE NOT EXISTS (SELECT FROM obligations b WHERE b.provider_id = id)
      AND NOT EXISTS (SELECT FROM email_evidence e WHERE e.message_id = id
                      AND (e.environment, e.session, e.generation::text) <> (@environment, @session, @subject))
), unverified AS MATERIALIZED (
    SELECT environment, session, subject, recipient, payload, first_attempt_at, last_attempt_at FROM obligations
    WHERE coalesce(finished_at, stopped_at) IS NULL AND kind = 'email' AND provider_id IS NULL
    UNION ALL
    SELECT environment, session, subject, recipient, payload, first_attempt_at, last_attempt_at FROM obligations
    WHERE kind = 'email' AND stopped_at IS NOT NULL AND provider_id IS NULL
), rivals AS (
    SELECT FROM unverified u, this
    WHERE (u.environment, u.session, u.subject) <> (@environment, @session, @subject)
      AND u.first_attempt_at < this.until AND coalesce(u.last_attempt_at, now()) > this.since
      AND lower(u.recipient) = lower(this.recipient)
      AND convert_from(u.payload, 'UTF8')::json ->> 'subject' = this.subject
), done AS (
    UPDATE obligations b SET finished_at = coalesce(b.first_attempt_at, now()), provider_id = free.id,
        token = NULL, claim_expires_at = NULL, failure_class = NULL
    FROM free, this, locked
    WHERE b.environment = @environment AND b.session = @session AND b.kind = @kind AND b.subject = @subject
      AND b.finished_at IS NULL AND b.stopped_at IS NULL
      AND (b.token = nullif(@token, '')::uuid OR b.claim_expires_at IS NULL OR b.claim_expires_at <= clock_timestamp())
      AND (SELECT count(*) FROM free) = 1 AND NOT EXISTS (SELECT FROM rivals)
    RETURNING 1
)
INSERT INTO audit (environment, session, who, what, why)
SELECT @environment, @session, 'handover', 'email generation ' || @subject || ': accepted',
       'it is in the email provider''s list of sent mail, and no other message can be meant' FROM done`
