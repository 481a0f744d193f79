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
	LinkBase    string // the address under which the link stands
	Message     order.Message
}

// EmailData is what a message is rendered from.
type EmailData struct {
	Key         order.Key
	Reference   order.Reference
	Address     string
	Name        string
	LinkVersion int
	Grants      []order.Grant
}

// Rendered is a message as it is stored: with a placeholder for the link, and which secret makes it.
type Rendered struct {
	Message    order.Message
	LinkSecret string
	LinkBase   string
	LinkHash   []byte
}

// ErrNoAddress means that there is nobody to send to.
var ErrNoAddress = errors.New("the buyer has no email address")

// ClaimEmail claims one generation of the access email. The first claim stores the message that render makes; every later
// one gets the same. Where there is nothing to claim the error is a *NotClaimableError; ErrNoAddress undoes the claim.
func (l *Ledger) ClaimEmail(ctx context.Context, w ObligationID, o LeaseOptions, render func(EmailData) (Rendered, error)) (EmailClaim, error) {
	var claimed []claimedEmail
	var c EmailClaim
	data := EmailData{Key: w.Key}
	err := l.inPipelinedTx(ctx, func(first *pgx.Batch) {
		readEmailData(first, &data) // before the claim, as a resend takes its locks: the order, then the obligation
		first.Queue(claimEmail, w.args(pgx.StrictNamedArgs{
			"duration": o.Duration, "max_attempts": o.MaxAttempts, "window": o.Window,
		})).Query(collect(&claimed))
	}, func(conn *pgx.Conn, last *pgx.Batch) error {
		if len(claimed) == 0 {
			return notClaimable(ctx, conn, w, o)
		}
		is := claimed[0]
		c = EmailClaim{Token: is.Token, Attempts: is.Attempts, LinkVersion: is.LinkVersion, LinkSecret: is.LinkSecret, LinkBase: is.LinkBase}
		if is.Payload != nil {
			return json.Unmarshal(is.Payload, &c.Message)
		}
		data.LinkVersion = is.LinkVersion
		return c.renderOnce(last, w, data, render)
	})
	return c, safe("claim an email", err)
}

type claimedEmail struct {
	Token       string
	Attempts    int
	Payload     []byte
	LinkSecret  string
	LinkBase    string
	LinkVersion int
}

const claimEmail = `
WITH claimed AS (` + claim + `)
SELECT c.token, c.attempts, c.payload, c.link_secret, c.link_base, o.link_version
FROM claimed c JOIN orders o ON o.environment = @environment AND o.session = @session`

// renderOnce renders the message, inside the claim's transaction, and stores it with the link that it carries.
func (c *EmailClaim) renderOnce(b *pgx.Batch, w ObligationID, data EmailData, render func(EmailData) (Rendered, error)) error {
	if data.Address == "" {
		return ErrNoAddress
	}
	rendered, err := render(data)
	if err != nil {
		return fromCallback(err)
	}
	payload, err := json.Marshal(rendered.Message)
	if err != nil {
		return err
	}

	c.Message, c.LinkSecret, c.LinkBase = rendered.Message, rendered.LinkSecret, rendered.LinkBase
	b.Queue(`
INSERT INTO links (token_hash, environment, session, version, secret)
VALUES (@hash, @environment, @session, @version, @secret) ON CONFLICT DO NOTHING`,
		orderArgs(w.Key, pgx.StrictNamedArgs{"hash": rendered.LinkHash, "version": data.LinkVersion, "secret": rendered.LinkSecret}))
	b.Queue(`
UPDATE obligations SET payload = @payload, recipient = @recipient, link_secret = @link_secret, link_base = @link_base
WHERE environment = @environment AND session = @session AND kind = @kind AND subject = @subject`,
		w.args(pgx.StrictNamedArgs{"payload": payload, "recipient": rendered.Message.To, "link_secret": rendered.LinkSecret, "link_base": rendered.LinkBase}))
	return nil
}

// readEmailData reads what the message says. It shares the order's row: a resend to another address, which decides by
// whether the message is rendered, comes wholly before or wholly after.
func readEmailData(b *pgx.Batch, data *EmailData) {
	b.Queue(`
SELECT reference, coalesce(address, buyer_email, ''), coalesce(buyer_name, '') FROM orders
WHERE environment = @environment AND session = @session FOR SHARE`, orderArgs(data.Key, nil)).
		Query(func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, []any{&data.Reference, &data.Address, &data.Name}, func() error { return nil })
			return err
		})
	b.Queue(selectGrants, orderArgs(data.Key, nil)).Query(collect(&data.Grants))
}
