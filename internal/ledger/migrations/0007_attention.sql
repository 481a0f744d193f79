-- +goose Up

-- One row for each step of an order that has stopped and waits for a person. A row ends with its own step and with no
-- other, so nothing that has stopped is hidden by what stopped after it.
CREATE TABLE attention (
    environment text        NOT NULL,
    session     text        NOT NULL,
    step        text        NOT NULL CHECK (step IN ('payment', 'reversal', 'access', 'access_change', 'email')),
    reason      text        NOT NULL,
    class       text        NOT NULL DEFAULT '', -- of the failure; empty where there was none
    since       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (environment, session, step),
    FOREIGN KEY (environment, session) REFERENCES orders
);
CREATE INDEX attention_since ON attention (since);

-- A change of access is revoke, hold or restore: the obligation is called what it is.
ALTER TABLE obligations DROP CONSTRAINT obligations_kind_check;
UPDATE obligations SET kind = 'access_change' WHERE kind = 'revoke';
ALTER TABLE obligations ADD CONSTRAINT obligations_kind_check CHECK (kind IN ('access', 'access_change', 'email'));

-- What an order showed, a refund that names no item, and what had stopped besides and was shown nowhere.
INSERT INTO attention (environment, session, step, reason, class, since)
SELECT environment, session, CASE attention_step WHEN 'refund' THEN 'reversal' WHEN 'revoke' THEN 'access_change' ELSE coalesce(attention_step, 'payment') END,
       attention_reason, coalesce(attention_class, ''), attention_at
FROM orders WHERE attention_at IS NOT NULL AND attention_reason IS NOT NULL;
INSERT INTO attention (environment, session, step, reason, since)
SELECT environment, session, 'reversal', 'refund_names_no_item', refund_unclear_at FROM orders WHERE refund_unclear_at IS NOT NULL
ON CONFLICT DO NOTHING;
INSERT INTO attention (environment, session, step, reason, class, since)
SELECT DISTINCT ON (b.environment, b.session, b.kind) b.environment, b.session, b.kind,
       CASE WHEN b.kind = 'access' THEN 'access_not_granted'
            WHEN b.kind = 'access_change' THEN 'access_not_changed'
            WHEN b.failure_class = 'misconfigured' THEN 'email_misconfigured'
            WHEN b.failure_class = 'permanent' AND coalesce(o.address, o.buyer_email, '') = '' THEN 'buyer_has_no_email_address'
            WHEN b.failure_class = 'permanent' THEN 'email_refused'
            WHEN b.failure_class IN ('uncertain', 'past_window', 'unknown_outcome') THEN 'email_outcome_unknown'
            ELSE 'email_attempts_spent' END,
       coalesce(b.failure_class, ''), b.stopped_at
FROM obligations b JOIN orders o ON o.environment = b.environment AND o.session = b.session
WHERE b.stopped_at IS NOT NULL AND b.finished_at IS NULL AND b.superseded_at IS NULL
  AND (b.kind <> 'email' OR NOT EXISTS (SELECT FROM obligations n WHERE n.environment = b.environment AND n.session = b.session
       AND n.kind = 'email' AND n.subject::int > b.subject::int))
ORDER BY b.environment, b.session, b.kind, b.stopped_at
ON CONFLICT DO NOTHING;

ALTER TABLE orders
    DROP COLUMN attention_step,
    DROP COLUMN attention_reason,
    DROP COLUMN attention_class,
    DROP COLUMN attention_at,
    DROP COLUMN refund_unclear_at;

-- What is still to be done: neither finished nor stopped, and desired. Access and email that are not desired are
-- suspended; a change of access always has to be carried out. Its condition does not match the index obligations_open:
-- a statement about one order reads it by the primary key. Those that go through everything open also say
-- coalesce(finished_at, stopped_at) IS NULL, which is that index's condition.
CREATE VIEW open_obligations AS
SELECT * FROM obligations
WHERE finished_at IS NULL AND stopped_at IS NULL AND (wanted = 'granted' OR kind = 'access_change');

-- The bodies of events are not kept: the provider is asked anyway, and what is not stored need not be erased. Neither are
-- the email provider's events about messages that are not ours.
ALTER TABLE webhook_events DROP COLUMN body;
ALTER TABLE webhook_events RESET (toast_tuple_target);
ALTER TABLE email_evidence DROP COLUMN body;
DELETE FROM email_evidence e
WHERE e.session IS NULL AND NOT EXISTS (SELECT FROM obligations b WHERE b.provider_id = e.message_id);
DROP INDEX webhook_events_unmatched;

-- Of a session that is not ours nothing of the buyer is kept.
UPDATE orders SET buyer_email = NULL, buyer_name = NULL WHERE payment = 'ignored' AND (buyer_email IS NOT NULL OR buyer_name IS NOT NULL);

-- For the operator's questions: which order has this payment, which emails came back, when the last event came.
DROP INDEX orders_payment_ref;
CREATE INDEX orders_payment_ref ON orders (payment_ref, environment) WHERE payment_ref IS NOT NULL;
CREATE INDEX email_evidence_returned ON email_evidence (received_at) WHERE delivery IN ('bounced', 'failed', 'suppressed');
CREATE INDEX email_evidence_received ON email_evidence (received_at);
CREATE INDEX webhook_events_received ON webhook_events (environment, received_at);
