-- +goose Up

-- What the payment providers told us, as they told it. The body is kept byte for byte; only the columns decide anything.
CREATE TABLE webhook_events (
    environment   text        NOT NULL,
    event_id      text        NOT NULL,
    type          text        NOT NULL,
    kind          text        NOT NULL,
    hint          text        NOT NULL DEFAULT '',
    session       text,
    payment_ref   text,
    body          bytea       NOT NULL,
    received_at   timestamptz NOT NULL DEFAULT now(),
    dispatched_at timestamptz, -- handed to the workflow, or known to bring nothing new
    PRIMARY KEY (environment, event_id)
) WITH (toast_tuple_target = 256); -- a long body is kept beside the row, so that marking the row does not write it again
CREATE INDEX webhook_events_undispatched ON webhook_events (received_at) WHERE dispatched_at IS NULL;
CREATE INDEX webhook_events_session ON webhook_events (environment, session) WHERE session IS NOT NULL;
CREATE INDEX webhook_events_payment ON webhook_events (environment, payment_ref) WHERE kind IN ('refund', 'dispute');

-- One row a checkout session. Payment is the only fact stored here; access and email are what the obligations say.
CREATE TABLE orders (
    environment      text        NOT NULL,
    session          text        NOT NULL,
    created_at       timestamptz NOT NULL DEFAULT now(),
    handed_over_at   timestamptz, -- a workflow has been started for it at least once
    payment          text        NOT NULL DEFAULT 'pending',
    processing       boolean     NOT NULL DEFAULT false,
    payment_ref      text,
    amount           bigint,
    currency         text,
    buyer_email      text, -- what the provider proved
    buyer_name       text,
    address          text, -- what an operator put in its place
    looked_at        timestamptz, -- when the provider was last asked
    confirmed_at     timestamptz,
    owed_at          timestamptz, -- when its access and email became owed; not while a person has to decide
    link_version     integer     NOT NULL DEFAULT 1,
    attention_step   text, -- payment, or the kind of the obligation that stopped
    attention_reason text,
    attention_class  text,
    attention_at     timestamptz,
    PRIMARY KEY (environment, session)
);
CREATE INDEX orders_unpaid ON orders (created_at) WHERE payment = 'pending';
CREATE INDEX orders_ignored ON orders (created_at) WHERE payment = 'ignored';
CREATE INDEX orders_attention ON orders (attention_at) WHERE attention_at IS NOT NULL;
CREATE INDEX orders_created ON orders (created_at);
CREATE INDEX orders_buyer_email ON orders (lower(buyer_email));
CREATE INDEX orders_address ON orders (lower(address)) WHERE address IS NOT NULL;
CREATE INDEX orders_payment_ref ON orders (environment, payment_ref) WHERE payment_ref IS NOT NULL;

CREATE TABLE order_items (
    environment text    NOT NULL,
    session     text    NOT NULL,
    line        integer NOT NULL,
    refs        text[]  NOT NULL,
    name        text    NOT NULL,
    quantity    bigint  NOT NULL,
    product     text, -- ours; null when nothing of ours is sold as any of refs
    PRIMARY KEY (environment, session, line),
    FOREIGN KEY (environment, session) REFERENCES orders
);

-- Every piece of work owed on an order, of whatever kind, claimed and finished by one pair of statements.
CREATE TABLE obligations (
    environment      text        NOT NULL,
    session          text        NOT NULL,
    kind             text        NOT NULL CHECK (kind IN ('access', 'email', 'revoke')),
    subject          text        NOT NULL, -- access: product/kind[/file]; email: the generation
    created_at       timestamptz NOT NULL DEFAULT now(),
    product          text,
    access_kind      text,
    file             text,
    units            bigint,
    attempts         integer     NOT NULL DEFAULT 0,
    token            uuid,
    claim_expires_at timestamptz,
    first_attempt_at timestamptz,
    finished_at      timestamptz,
    stopped_at       timestamptz, -- automatic work has ended without finishing it
    failure_class    text,        -- of the last failure
    superseded_at    timestamptz,
    payload          bytea,       -- email: the frozen message, with a placeholder for the link
    recipient        text,        -- email: to whom the message was frozen
    link_secret      text,        -- email: which secret makes the link
    provider_id      text,
    PRIMARY KEY (environment, session, kind, subject),
    FOREIGN KEY (environment, session) REFERENCES orders
) WITH (toast_tuple_target = 256); -- as above: a frozen message is written once
-- What is open, for those who look over all of it. The condition is written so that only they match it: a statement about
-- one order must never be planned over this index, whose length is what is waiting.
CREATE INDEX obligations_open ON obligations (created_at) WHERE coalesce(finished_at, stopped_at) IS NULL;
CREATE INDEX obligations_provider_id ON obligations (provider_id) WHERE provider_id IS NOT NULL;

CREATE TABLE grants (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    environment text        NOT NULL,
    session     text        NOT NULL,
    product     text        NOT NULL,
    access_kind text        NOT NULL,
    file        text        NOT NULL DEFAULT '',
    unit        bigint      NOT NULL,
    secret      text        NOT NULL DEFAULT '',
    state       text        NOT NULL DEFAULT 'granted',
    granted_at  timestamptz NOT NULL DEFAULT now(),
    UNIQUE (environment, session, product, access_kind, file, unit),
    FOREIGN KEY (environment, session) REFERENCES orders
);

-- The emailed links. The token itself is nowhere: it is derived from a link secret, and found by its hash.
CREATE TABLE links (
    token_hash  bytea       PRIMARY KEY,
    environment text        NOT NULL,
    session     text        NOT NULL,
    version     integer     NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (environment, session) REFERENCES orders
);

-- What the email provider told afterwards.
CREATE TABLE email_evidence (
    event_id    text        PRIMARY KEY,
    type        text        NOT NULL,
    message_id  text        NOT NULL,
    delivery    text        NOT NULL,
    detail      text        NOT NULL,
    environment text,
    session     text,
    generation  integer,
    occurred_at timestamptz,
    received_at timestamptz NOT NULL DEFAULT now(),
    body        bytea       NOT NULL
);
CREATE INDEX email_evidence_order ON email_evidence (environment, session) WHERE session IS NOT NULL;
CREATE INDEX email_evidence_message ON email_evidence (message_id);

-- What people asked for. A request that was carried out is not carried out again, whatever replays it.
CREATE TABLE requests (
    environment    text        NOT NULL,
    session        text        NOT NULL,
    request_id     text        NOT NULL,
    kind           text        NOT NULL,
    who            text        NOT NULL,
    why            text        NOT NULL,
    address        text,
    created_at     timestamptz NOT NULL DEFAULT now(),
    signalled_at   timestamptz,
    carried_out_at timestamptz,
    outcome        text,
    generation     integer,
    PRIMARY KEY (environment, session, kind, request_id)
);

CREATE INDEX requests_waiting ON requests (created_at) WHERE carried_out_at IS NULL;

-- Append only: who did what, when and why.
CREATE TABLE audit (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at          timestamptz NOT NULL DEFAULT now(),
    environment text        NOT NULL,
    session     text        NOT NULL,
    who         text        NOT NULL,
    what        text        NOT NULL,
    why         text        NOT NULL
);
CREATE INDEX audit_order ON audit (environment, session, id);
