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
		is, err := readRetry(ctx, tx, r.Key, window)
		if err != nil {
			return err
		}
		steps, outcome, refusal := order.DecideRetry(is.RetryFacts)
		d.Outcome, d.Refusal, d.Generation = outcome, refusal, is.Generation
		names := make([]string, len(steps))
		for i, step := range steps {
			if step == order.StepEmail && is.Anew {
				d.Generation++
				err = nextGeneration(ctx, tx, r, order.ResendFacts{Generation: is.Generation, Open: true}, d.Generation)
			}
			if err == nil {
				err = reopen(ctx, tx, r.Key, step, d.Generation)
			}
			if err != nil {
				return err
			}
			names[i] = string(step)
		}
		known := "nothing had stopped"
		if len(steps) > 0 {
			known = strings.Join(names, ", ") + " had stopped: " + is.Reasons
		}
		return conclude(ctx, tx, r, *d, known)
	})
}

// retryRow is a row of selectRetry.
type retryRow struct {
	order.RetryFacts
	Generation int    // of the newest email
	Anew       bool   // that email cannot go again as it is: the provider has used its key up, or its link opens nothing any more
	Reasons    string // of everything that has stopped, for the audit
}

const selectRetry = `
SELECT o.payment, coalesce(o.address, o.buyer_email, '') AS address,
       coalesce((SELECT string_agg(w.reason, ', ' ORDER BY ` + byUrgency + `) FROM attention w
                 WHERE w.environment = @environment AND w.session = @session), '') AS reasons,
       EXISTS (SELECT FROM attention w WHERE w.environment = @environment AND w.session = @session AND w.reason = @items_unknown) AS items_unknown,
       EXISTS (SELECT FROM attention w WHERE w.environment = @environment AND w.session = @session
               AND w.step = 'reversal' AND w.reason <> @refund_unclear) AS reversal,
       EXISTS (SELECT FROM obligations a WHERE a.environment = @environment AND a.session = @session
               AND a.kind = 'access' AND a.finished_at IS NULL AND a.stopped_at IS NOT NULL) AS access,
       EXISTS (SELECT FROM obligations a WHERE a.environment = @environment AND a.session = @session
               AND a.kind = 'access_change' AND a.finished_at IS NULL AND a.stopped_at IS NOT NULL) AS access_change,
       coalesce(e.subject::int, 0) AS generation, coalesce(e.finished_at IS NULL AND e.stopped_at IS NOT NULL, false) AS email,
       coalesce(clock_timestamp() >= e.first_attempt_at + @window::interval, false) AS past_window,
       coalesce(e.finished_at IS NULL AND (e.provider_id IS NOT NULL OR e.payload IS NOT NULL AND NOT EXISTS (
           SELECT FROM links l WHERE l.environment = @environment AND l.session = @session AND l.version = o.link_version)), false) AS anew,
       o.payment = 'pending' OR o.reversal_due_at IS NOT NULL
         OR EXISTS (SELECT FROM open_obligations b WHERE b.environment = @environment AND b.session = @session) AS unfinished
FROM orders o
LEFT JOIN LATERAL (` + newestEmail + `) e ON true
WHERE o.environment = @environment AND o.session = @session`

func readRetry(ctx context.Context, tx pgx.Tx, key order.Key, window time.Duration) (retryRow, error) {
	rows, _ := tx.Query(ctx, selectRetry, orderArgs(key, pgx.StrictNamedArgs{
		"window": window, "items_unknown": order.ReasonItemsUnknown, "refund_unclear": order.ReasonRefundUnclear,
	}))
	is, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[retryRow])
	if noRows(err) {
		return retryRow{RetryFacts: order.RetryFacts{Payment: order.PaymentPending}}, nil
	}
	return is, err
}

// reopen gives one stopped step a fresh budget, and takes it off the attention list. What the catalogue does not know
// stays on the list until another retrieval has found it.
func reopen(ctx context.Context, tx pgx.Tx, key order.Key, step order.Step, generation int) error {
	statement, args := reopenObligations, orderArgs(key, nil)
	switch step {
	case order.StepPayment:
		statement = `
UPDATE orders SET payment = 'pending', next_attempt_at = now() WHERE environment = @environment AND session = @session AND payment = 'needs_attention'`
	case order.StepReversal:
		statement = `
UPDATE orders SET reversal_due_at = now() WHERE environment = @environment AND session = @session`
	case order.StepAccess, order.StepAccessChange:
		statement += ` AND kind = @kind`
		args["kind"] = step
	case order.StepEmail:
		statement += ` AND kind = 'email' AND subject = @subject`
		args["subject"] = strconv.Itoa(generation)
	default:
		return fmt.Errorf("no step %q", step)
	}
	if _, err := tx.Exec(ctx, statement, args); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, clearAttention, orderArgs(key, pgx.StrictNamedArgs{"steps": []order.Step{step}}))
	return err
}

const reopenObligations = `
UPDATE obligations SET stopped_at = NULL, attempts = 0, next_attempt_at = now(), failure_class = NULL, token = NULL, claim_expires_at = NULL
WHERE environment = @environment AND session = @session AND finished_at IS NULL AND stopped_at IS NOT NULL AND superseded_at IS NULL`
