package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// decision is a stored decision.
type decision struct {
	Decided    bool
	Outcome    order.Outcome
	Refusal    order.Refusal
	Generation int
}

const selectDecision = `
SELECT carried_out_at IS NOT NULL AS decided, split_part(coalesce(outcome, ''), ' ', 1) AS outcome,
       split_part(coalesce(outcome, ''), ' ', 2) AS refusal, coalesce(generation, 0) AS generation
FROM requests WHERE environment = @environment AND session = @session AND request_id = @request AND kind = @kind`

func (d decision) public() order.Decision {
	return order.Decision{Outcome: d.Outcome, Refusal: d.Refusal, Generation: d.Generation}
}

// Decided reads what became of a request; false when it has not been decided yet.
func (l *Ledger) Decided(ctx context.Context, r order.Request) (order.Decision, bool, error) {
	rows, _ := l.pool.Query(ctx, selectDecision, requestArgs(r, nil))
	d, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[decision])
	if noRows(err) {
		return order.Decision{}, false, nil
	}
	return d.public(), d.Decided, safe("read a request", err)
}

// decide takes a decision that has not been taken before. Two requests that come together are decided one after the other.
func (l *Ledger) decide(ctx context.Context, r order.Request, what string, take func(pgx.Tx, *order.Decision) error) (order.Decision, error) {
	var d order.Decision
	err := l.inTx(ctx, func(tx pgx.Tx) error {
		if err := lockOrder(ctx, tx, r.Key); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, insertRequest, newRequestArgs(r)); err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, selectDecision, requestArgs(r, nil))
		before, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[decision])
		if err != nil {
			return err
		}
		d = before.public()
		if before.Decided {
			d.Repeated = true
			return nil
		}
		if err := take(tx, &d); err != nil {
			return err
		}
		d.Attention, err = mostUrgent(ctx, tx, r.Key)
		return err
	})
	return d, safe(what, err)
}

// conclude stores the decision, and writes down who took it, why, and what was known of the earlier message.
func conclude(ctx context.Context, tx pgx.Tx, r order.Request, d order.Decision, known string) error {
	outcome := string(d.Outcome)
	if d.Refusal != "" {
		outcome += " " + string(d.Refusal)
	}
	_, err := tx.Exec(ctx, `
WITH decided AS (
    UPDATE requests SET carried_out_at = now(), outcome = @outcome, generation = nullif(@generation::int, 0)
    WHERE environment = @environment AND session = @session AND request_id = @request AND kind = @kind
    RETURNING who, why
)
INSERT INTO audit (environment, session, who, what, why) SELECT @environment, @session, who, @what::text, why FROM decided`,
		requestArgs(r, pgx.StrictNamedArgs{
			"outcome": outcome, "generation": d.Generation, "what": fmt.Sprintf("%s: %s (%s)", r.Kind, outcome, known),
		}))
	return err
}

// Refuse writes down a request that could not be understood.
func (l *Ledger) Refuse(ctx context.Context, r order.Request, refusal order.Refusal) error {
	return safe("refuse a request", l.inTx(ctx, func(tx pgx.Tx) error {
		r.Address = ""
		tag, err := tx.Exec(ctx, insertRequest, newRequestArgs(r))
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return conclude(ctx, tx, r, order.Decision{Outcome: order.OutcomeRefused, Refusal: refusal}, "nothing was done")
	}))
}
