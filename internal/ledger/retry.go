package ledger

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// Retry decides a request to work on the stopped steps again, once: a repetition gets the first decision. The steps get a
// fresh budget and keep their keys; window is how long after its first attempt an email may still be repeated.
func (l *Ledger) Retry(ctx context.Context, r order.Request, window time.Duration) (order.Decision, error) {
	return l.decide(ctx, r, "decide a retry", func(tx pgx.Tx, d *order.Decision) error {
		facts, generation, err := retryFacts(ctx, tx, r.Key, window)
		if err != nil {
			return err
		}
		steps, outcome, refusal := order.DecideRetry(facts)
		d.Outcome, d.Refusal, d.Generation = outcome, refusal, generation
		for _, step := range steps {
			if err := reopen(ctx, tx, r.Key, step, generation); err != nil {
				return err
			}
		}
		known := "nothing had stopped"
		if len(steps) > 0 {
			known = strings.Join(steps, ", ") + " had stopped: " + string(facts.Reason)
		}
		return conclude(ctx, tx, r, *d, known)
	})
}

func retryFacts(ctx context.Context, tx pgx.Tx, key order.Key, window time.Duration) (f order.RetryFacts, generation int, err error) {
	err = tx.QueryRow(ctx, `
SELECT o.payment, coalesce(o.attention_reason, ''), coalesce(o.address, o.buyer_email, ''),
       EXISTS (SELECT FROM obligations a WHERE a.environment = $1 AND a.session = $2 AND a.kind = 'access' AND a.stopped_at IS NOT NULL),
       EXISTS (SELECT FROM obligations a WHERE a.environment = $1 AND a.session = $2 AND a.kind = 'revoke' AND a.stopped_at IS NOT NULL),
       coalesce(e.subject::int, 0), coalesce(e.finished_at IS NULL AND e.stopped_at IS NOT NULL, false),
       coalesce(clock_timestamp() >= e.first_attempt_at + $3::interval, false),
       o.payment = 'pending' OR o.reversal_due_at IS NOT NULL OR EXISTS (
           SELECT FROM obligations b WHERE b.environment = $1 AND b.session = $2 AND b.finished_at IS NULL AND b.stopped_at IS NULL
             AND (b.wanted = 'granted' OR b.kind = 'revoke'))
FROM orders o
LEFT JOIN LATERAL (
    SELECT * FROM obligations b WHERE b.environment = $1 AND b.session = $2 AND b.kind = 'email' ORDER BY b.subject::int DESC LIMIT 1
) e ON true
WHERE o.environment = $1 AND o.session = $2`, key.Environment, key.Session, window).
		Scan(&f.Payment, &f.Reason, &f.Address, &f.Access, &f.Revoke, &generation, &f.Email, &f.PastWindow, &f.Unfinished)
	if noRows(err) {
		return order.RetryFacts{Payment: order.PaymentPending}, 0, nil
	}
	return f, generation, err
}

// reopen gives one stopped step a fresh budget, and takes the order off the attention list where that step put it on.
func reopen(ctx context.Context, tx pgx.Tx, key order.Key, step string, generation int) error {
	var err error
	switch step {
	case "payment":
		_, err = tx.Exec(ctx, `UPDATE orders SET payment = 'pending' WHERE environment = $1 AND session = $2 AND payment = 'needs_attention'`,
			key.Environment, key.Session)
	case "access":
		_, err = tx.Exec(ctx, reopenWork+` AND kind = 'access'`, key.Environment, key.Session)
	case "revoke":
		_, err = tx.Exec(ctx, reopenWork+` AND kind = 'revoke'`, key.Environment, key.Session)
	case "refund":
		_, err = tx.Exec(ctx, `UPDATE orders SET reversal_due_at = now() WHERE environment = $1 AND session = $2`, key.Environment, key.Session)
	case "email":
		_, err = tx.Exec(ctx, reopenWork+` AND kind = 'email' AND subject = $3`, key.Environment, key.Session, strconv.Itoa(generation))
	default:
		return fmt.Errorf("no step %q", step)
	}
	if err != nil {
		return err
	}
	// What the catalogue does not know stays on the list until another look has found it.
	_, err = tx.Exec(ctx, `
UPDATE orders SET attention_step = NULL, attention_reason = NULL, attention_class = NULL, attention_at = NULL
WHERE environment = $1 AND session = $2 AND attention_step = $3 AND attention_reason <> $4`,
		key.Environment, key.Session, step, order.ReasonItemsUnknown)
	return err
}

const reopenWork = `
UPDATE obligations SET stopped_at = NULL, attempts = 0, failure_class = NULL, token = NULL, claim_expires_at = NULL
WHERE environment = $1 AND session = $2 AND finished_at IS NULL AND stopped_at IS NOT NULL AND superseded_at IS NULL`
