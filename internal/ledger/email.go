package ledger

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// EmailClaim is the right to make one attempt at sending a message that no longer changes.
type EmailClaim struct {
	Token       string
	Attempts    int
	LinkVersion int
	LinkSecret  string // which of the link secrets makes the link in this message
	Message     order.Message
}

// EmailData is what a message is rendered from.
type EmailData struct {
	Key         order.Key
	Address     string
	Name        string
	LinkVersion int
	Grants      []order.Grant
}

// Frozen is a message as it is stored: with a placeholder for the link, and which secret makes it.
type Rendered struct {
	Message    order.Message
	LinkSecret string
	LinkHash   []byte
}

// ErrNoAddress means that there is nobody to send to.
var ErrNoAddress = errors.New("the buyer has no email address")

// ClaimEmail claims one generation of the access email. The first claim freezes the message that render makes; every
// later one gets the same. A claim that is not given is a *NotClaimableError.
func (l *Ledger) ClaimEmail(ctx context.Context, w ObligationID, t LeaseOptions, render func(EmailData) (Rendered, error)) (EmailClaim, error) {
	var c EmailClaim
	var payload []byte
	claimed := false
	data := EmailData{Key: w.Key}
	err := l.inTrips(ctx, func(first *pgx.Batch) {
		readEmailData(first, &data) // before the claim, as a resend takes its locks: the order, then the obligation
		first.Queue(`
WITH claimed AS (`+claim+`)
SELECT c.token, c.attempts, c.payload, c.link_secret, o.link_version
FROM claimed c JOIN orders o ON o.environment = $1 AND o.session = $2`,
			w.Key.Environment, w.Key.Session, w.Kind, w.Subject, t.Duration, t.MaxAttempts, t.Window).
			Query(func(rows pgx.Rows) error {
				_, err := pgx.ForEachRow(rows, []any{&c.Token, &c.Attempts, &payload, &c.LinkSecret, &c.LinkVersion},
					func() error { claimed = true; return nil })
				return err
			})
	}, func(tx *pgx.Conn, last *pgx.Batch) error {
		switch {
		case !claimed:
			return denied(ctx, tx, w, t)
		case payload != nil:
			return json.Unmarshal(payload, &c.Message)
		}
		data.LinkVersion = c.LinkVersion
		return c.freeze(last, w, data, render)
	})
	return c, safe("claim an email", err)
}

func (c *EmailClaim) freeze(b *pgx.Batch, w ObligationID, data EmailData, render func(EmailData) (Rendered, error)) error {
	if data.Address == "" {
		return ErrNoAddress
	}
	frozen, err := render(data)
	if err != nil {
		return fromCallback(err)
	}
	payload, err := json.Marshal(frozen.Message)
	if err != nil {
		return err
	}
	c.Message, c.LinkSecret = frozen.Message, frozen.LinkSecret
	b.Queue(`
WITH link AS (
    INSERT INTO links (token_hash, environment, session, version) VALUES ($8, $1, $2, $9) ON CONFLICT DO NOTHING
)
UPDATE obligations SET payload = $5, recipient = $6, link_secret = $7
WHERE environment = $1 AND session = $2 AND kind = $3 AND subject = $4`,
		w.Key.Environment, w.Key.Session, w.Kind, w.Subject, payload, frozen.Message.To, frozen.LinkSecret, frozen.LinkHash, data.LinkVersion)
	return nil
}

// readEmailData reads what the message says. It shares the order's row: a resend to another address, which decides by
// whether the message is frozen, comes wholly before or wholly after.
func readEmailData(b *pgx.Batch, data *EmailData) {
	b.Queue(`
SELECT coalesce(address, buyer_email, ''), coalesce(buyer_name, '') FROM orders WHERE environment = $1 AND session = $2 FOR SHARE`,
		data.Key.Environment, data.Key.Session).
		Query(func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, []any{&data.Address, &data.Name}, func() error { return nil })
			return err
		})
	b.Queue(selectGrants, data.Key.Environment, data.Key.Session).
		Query(func(rows pgx.Rows) (err error) {
			data.Grants, err = pgx.CollectRows(rows, scanGrant)
			return err
		})
}
