package ledger

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// ErrUnderWay means that something is still owed on an order, for which the buyer has to be known.
var ErrUnderWay = errors.New("something is still owed on this order")

// Erase forgets who the buyer of an order is: address, name, the emails that went out and what the providers told, byte
// for byte. What was bought stays, with its amounts, its grants and the link that the buyer holds, so that the books are
// right and the download goes on working. An order on which something is still to be done, or to be decided, is ErrUnderWay.
func (l *Ledger) Erase(ctx context.Context, key order.Key, who, why string) error {
	return safe("erase a buyer", l.inTx(ctx, func(tx pgx.Tx) error {
		if err := lockOrder(ctx, tx, key); err != nil {
			return err
		}
		var underWay bool
		err := tx.QueryRow(ctx, `
SELECT payment = 'pending' OR reversal_due_at IS NOT NULL
  OR EXISTS (SELECT FROM requests q WHERE q.environment = $1 AND q.session = $2 AND q.carried_out_at IS NULL) OR EXISTS (
    SELECT FROM obligations b WHERE b.environment = $1 AND b.session = $2 AND b.finished_at IS NULL AND b.stopped_at IS NULL
      AND (b.wanted = 'granted' OR b.kind = 'revoke'))
FROM orders WHERE environment = $1 AND session = $2`, key.Environment, key.Session).Scan(&underWay)
		switch {
		case noRows(err):
			return ErrNotFound
		case err != nil:
			return err
		case underWay:
			return ErrUnderWay
		}
		for _, statement := range erasing {
			if _, err := tx.Exec(ctx, statement, key.Environment, key.Session); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `INSERT INTO audit (environment, session, who, what, why) VALUES ($1, $2, $3, 'buyer erased', $4)`,
			key.Environment, key.Session, who, why)
		return err
	}))
}

// erasing are the places where something of the buyer is. The bodies of events about the payment name no session.
var erasing = []string{
	`UPDATE webhook_events SET body = '' WHERE environment = $1 AND (session = $2
        OR payment_ref = (SELECT payment_ref FROM orders WHERE environment = $1 AND session = $2))`,
	`UPDATE email_evidence SET body = '', detail = '' WHERE environment = $1 AND session = $2
        OR message_id IN (SELECT provider_id FROM obligations WHERE environment = $1 AND session = $2 AND kind = 'email')`,
	`UPDATE obligations SET payload = NULL, recipient = NULL WHERE environment = $1 AND session = $2 AND kind = 'email'`,
	`UPDATE requests SET address = NULL WHERE environment = $1 AND session = $2`,
	`UPDATE orders SET buyer_email = NULL, buyer_name = NULL, address = NULL WHERE environment = $1 AND session = $2`,
}
