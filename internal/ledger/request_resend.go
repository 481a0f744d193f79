package ledger

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// Resend decides a request for a new email, once: a repetition gets the first decision.
func (l *Ledger) Resend(ctx context.Context, r order.Request) (order.Decision, error) {
	return l.decide(ctx, r, "decide a resend", func(tx pgx.Tx, d *order.Decision) error { return decideResend(ctx, tx, r, d) })
}

func decideResend(ctx context.Context, tx pgx.Tx, r order.Request, d *order.Decision) error {
	facts, known, err := resendFacts(ctx, tx, r)
	if err != nil {
		return err
	}
	d.Outcome, d.Refusal = order.DecideResend(facts)
	d.Generation = facts.Generation
	if d.Outcome == order.OutcomeSending {
		d.Generation++
		if err := nextGeneration(ctx, tx, r, facts, d.Generation); err != nil {
			return err
		}
	}
	if d.Outcome != order.OutcomeRefused {
		if err := readdress(ctx, tx, r, facts); err != nil {
			return err
		}
	}
	return conclude(ctx, tx, r, *d, known)
}

// resendRow is a row of selectResend: the order, what access it gives, and its newest email.
type resendRow struct {
	Payment           order.PaymentState
	Address           string
	Generation        int
	Open              bool
	Recipient         string
	Class             order.Class
	Accepted, Stopped bool
	Answered          bool
	Delivery          string // what the provider's events report of it, comma-separated
	Pending, Granted  int    // pieces of access
}

const selectResend = `
SELECT o.payment, coalesce(q.address, o.address, o.buyer_email, '') AS address,
       coalesce(e.subject::int, 0) AS generation, coalesce(e.finished_at IS NULL AND e.stopped_at IS NULL, false) AS open,
       coalesce(e.recipient, '') AS recipient, coalesce(e.failure_class, '') AS class,
       e.finished_at IS NOT NULL AS accepted, e.stopped_at IS NOT NULL AS stopped, coalesce(e.finished_at > q.created_at, false) AS answered,
       coalesce((
           SELECT string_agg(DISTINCT v.delivery, ', ') FROM email_evidence v WHERE v.delivery <> ''
             AND (v.message_id = e.provider_id OR v.environment = @environment AND v.session = @session AND v.generation::text = e.subject)
       ), '') AS delivery,
       (SELECT count(*) FROM obligations a WHERE a.environment = @environment AND a.session = @session AND a.kind = 'access'
          AND a.finished_at IS NULL AND a.wanted = 'granted') AS pending,
       (SELECT count(*) FROM grants g JOIN obligations a ON a.environment = @environment AND a.session = @session AND a.kind = 'access'
          AND a.wanted = 'granted' AND a.product = g.product AND a.access_kind = g.access_kind AND coalesce(a.file, '') = g.file
        WHERE g.environment = @environment AND g.session = @session AND g.state = 'granted') AS granted
FROM orders o
JOIN requests q ON q.environment = @environment AND q.session = @session AND q.request_id = @request AND q.kind = @kind
LEFT JOIN LATERAL (` + newestEmail + `) e ON true
WHERE o.environment = @environment AND o.session = @session`

// newestEmail is the newest generation of an order's email.
const newestEmail = `
    SELECT * FROM obligations b
    WHERE b.environment = @environment AND b.session = @session AND b.kind = 'email' ORDER BY b.subject::int DESC LIMIT 1`

// resendFacts reads what the rule needs, and what is known of the earlier message in safe words.
func resendFacts(ctx context.Context, tx pgx.Tx, r order.Request) (order.ResendFacts, string, error) {
	rows, _ := tx.Query(ctx, selectResend, requestArgs(r, nil))
	is, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[resendRow])
	if noRows(err) {
		return order.ResendFacts{Payment: order.PaymentPending}, "unknown order", nil
	}
	facts := order.ResendFacts{
		Payment: is.Payment, Access: order.AccessPending, Address: is.Address,
		Generation: is.Generation, Open: is.Open, Recipient: is.Recipient, Answered: is.Answered,
	}
	for word := range strings.SplitSeq(is.Delivery, ", ") {
		if order.Delivery(word).CameBack() {
			facts.Answered = false // what came back is not what was asked for
		}
	}
	if is.Pending == 0 && is.Granted > 0 {
		facts.Access = order.AccessGranted
	}
	return facts, is.known(), err
}

// known is what is known of the newest email, in words for the audit.
func (r resendRow) known() string {
	switch {
	case r.Generation == 0:
		return "no earlier email"
	case r.Accepted && r.Delivery != "":
		return fmt.Sprintf("generation %d: accepted; the provider reports: %s", r.Generation, r.Delivery)
	case r.Accepted:
		return fmt.Sprintf("generation %d: accepted", r.Generation)
	case r.Stopped:
		return fmt.Sprintf("generation %d: stopped, %s", r.Generation, r.Class)
	case r.Class != "":
		return fmt.Sprintf("generation %d: under way, last failure %s", r.Generation, r.Class)
	}
	return fmt.Sprintf("generation %d: under way", r.Generation)
}

// nextGeneration ends the automatic attempts of a generation that goes to another address and makes the next one pending.
func nextGeneration(ctx context.Context, tx pgx.Tx, r order.Request, f order.ResendFacts, generation int) error {
	if f.Open {
		if _, err := tx.Exec(ctx, `
UPDATE obligations SET superseded_at = now(), stopped_at = now()
WHERE environment = @environment AND session = @session AND kind = 'email' AND subject = @subject AND finished_at IS NULL`,
			orderArgs(r.Key, pgx.StrictNamedArgs{"subject": strconv.Itoa(f.Generation)})); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `
INSERT INTO obligations (environment, session, kind, subject) VALUES (@environment, @session, 'email', @subject)`,
		orderArgs(r.Key, pgx.StrictNamedArgs{"subject": strconv.Itoa(generation)}))
	return err
}

// readdress notes where messages go from now on, and that a person has dealt with a stopped email.
func readdress(ctx context.Context, tx pgx.Tx, r order.Request, f order.ResendFacts) error {
	_, err := tx.Exec(ctx, `
UPDATE orders SET address = @address
WHERE environment = @environment AND session = @session AND @address <> coalesce(address, buyer_email, '')`,
		orderArgs(r.Key, pgx.StrictNamedArgs{"address": f.Address}))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, clearAttention, orderArgs(r.Key, pgx.StrictNamedArgs{"steps": []order.Step{order.StepEmail}}))
	return err
}
