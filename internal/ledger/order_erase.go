package ledger

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// ErrUnderWay means that something is pending on an order, for which the buyer has to be known.
var ErrUnderWay = errors.New("something is still pending on this order")

// Erase forgets who the buyer of an order is: address, name, the emails that went out, what the email provider reported in
// words, and what people wrote about the order. Nothing that is reported later brings any of it back. What was bought stays, with its amounts, its grants and the link that the buyer holds, so that the
// accounts are right and the download goes on working. An order on which something is still to be done is ErrUnderWay;
// what has stopped and waits for a person is not.
func (l *Ledger) Erase(ctx context.Context, key order.Key, who, why string) error {
	return safe("erase a buyer", l.inTx(ctx, func(tx pgx.Tx) error {
		if err := lockOrder(ctx, tx, key); err != nil {
			return err
		}
		var underWay bool
		err := tx.QueryRow(ctx, selectUnderWay, orderArgs(key, nil)).Scan(&underWay)
		switch {
		case noRows(err):
			return ErrNotFound
		case err != nil:
			return err
		case underWay:
			return ErrUnderWay
		}

		for _, statement := range erasing {
			if _, err := tx.Exec(ctx, statement, orderArgs(key, nil)); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `
INSERT INTO audit (environment, session, who, what, why) VALUES (@environment, @session, @who, 'buyer erased', @why)`,
			orderArgs(key, pgx.StrictNamedArgs{"who": who, "why": why}))
		return err
	}))
}

// A refund is checked for a confirmed payment only: of one that is ignored or failed nothing is to be done.
const selectUnderWay = `
SELECT payment = 'pending'
  OR payment = 'confirmed' AND reversal_due_at IS NOT NULL AND NOT EXISTS (
    SELECT FROM attention w WHERE w.environment = @environment AND w.session = @session AND w.step = 'reversal')
  OR EXISTS (SELECT FROM requests q WHERE q.environment = @environment AND q.session = @session AND q.carried_out_at IS NULL)
  OR EXISTS (SELECT FROM open_obligations b WHERE b.environment = @environment AND b.session = @session)
FROM orders WHERE environment = @environment AND session = @session`

// erasing are the places where something of the buyer is. Each statement has an index of its own.
var erasing = []string{
	`UPDATE email_evidence SET detail = '' WHERE environment = @environment AND session = @session`,
	`UPDATE email_evidence SET detail = '' WHERE message_id IN (
        SELECT provider_id FROM obligations
        WHERE environment = @environment AND session = @session AND kind = 'email' AND provider_id IS NOT NULL)`,
	`UPDATE obligations SET payload = NULL, recipient = NULL WHERE environment = @environment AND session = @session AND kind = 'email'`,
	`UPDATE requests SET address = NULL, why = '' WHERE environment = @environment AND session = @session`,
	`UPDATE audit SET why = '' WHERE environment = @environment AND session = @session AND who <> 'handover'`,
	`UPDATE orders SET buyer_email = NULL, buyer_name = NULL, address = NULL, erased_at = now() WHERE environment = @environment AND session = @session`,
}
