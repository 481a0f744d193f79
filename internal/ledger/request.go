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

// File stores a request before it is signalled, so that an address never has to be in the signal, and so that a signal
// that cannot be sent now is sent later.
func (l *Ledger) StoreRequest(ctx context.Context, r order.Request) error {
	_, err := l.pool.Exec(ctx, insertRequest, r.Key.Environment, r.Key.Session, r.ID, r.Kind, r.Who, r.Why, r.Address)
	return safe("file a request", err)
}

const insertRequest = `
INSERT INTO requests (environment, session, request_id, kind, who, why, address)
VALUES ($1, $2, $3, $4, $5, $6, nullif($7, '')) ON CONFLICT DO NOTHING`

// StoreBuyerRequest files a buyer's own wish to have the email again, at most one in every ten minutes and five in all, and
// says how long to wait otherwise. Wishes that come together are judged one after the other.
func (l *Ledger) StoreBuyerRequest(ctx context.Context, r order.Request) (filed bool, wait time.Duration, err error) {
	err = l.inTx(ctx, func(tx pgx.Tx) error {
		if err := lockOrder(ctx, tx, r.Key); err != nil {
			return err
		}
		var count int
		if err := tx.QueryRow(ctx, `
SELECT count(*), greatest(coalesce(max(created_at) + $4::interval - clock_timestamp(), '0'), '0')
FROM requests WHERE environment = $1 AND session = $2 AND who = $3`, r.Key.Environment, r.Key.Session, r.Who, buyerPause).
			Scan(&count, &wait); err != nil {
			return err
		}
		if count >= mostBuyerWishes {
			wait = buyerPause
		}
		if wait > 0 {
			return nil
		}
		tag, err := tx.Exec(ctx, insertRequest, r.Key.Environment, r.Key.Session, r.ID, r.Kind, r.Who, r.Why, "")
		filed = tag.RowsAffected() == 1
		return err
	})
	return filed, wait, safe("file a buyer's request", err)
}

// How often buyers may ask for their email by themselves.
const (
	buyerPause      = 10 * time.Minute
	mostBuyerWishes = 5
)

// lockOrder makes the decisions on one order wait for each other. It lets those pass who only refer to the order: a grant,
// which takes its obligation first, must not wait for a decision that wants the same obligation.
func lockOrder(ctx context.Context, tx pgx.Tx, key order.Key) error {
	_, err := tx.Exec(ctx, `SELECT FROM orders WHERE environment = $1 AND session = $2 FOR NO KEY UPDATE`, key.Environment, key.Session)
	return err
}

// MarkSignalled notes that a request is on its way to its workflow.
func (l *Ledger) MarkSignalled(ctx context.Context, key order.Key, id string) error {
	_, err := l.pool.Exec(ctx, `UPDATE requests SET signalled_at = now() WHERE environment = $1 AND session = $2 AND request_id = $3`,
		key.Environment, key.Session, id)
	return safe("mark a request", err)
}

// Waiting lists requests that were filed, or signalled, longer than grace ago and are still not decided. Each signal
// doubles the wait for the next: while no worker runs, a history must not fill with them.
func (l *Ledger) Waiting(ctx context.Context, grace time.Duration, limit int) ([]order.Request, error) {
	rows, err := l.pool.Query(ctx, `
SELECT environment, session, request_id, kind, who, why FROM requests
WHERE carried_out_at IS NULL AND kind IN ('resend', 'retry', 'revoke', 'restore', 'relink')
  AND CASE WHEN signalled_at IS NULL THEN created_at < now() - least($1::interval, '5 seconds')
      ELSE signalled_at < now() - greatest($1::interval, signalled_at - created_at) END
ORDER BY created_at LIMIT $2`, grace, limit)
	if err != nil {
		return nil, safe("list requests", err)
	}
	found, err := pgx.CollectRows(rows, scanRequest)
	return found, safe("list requests", err)
}

// Undecided lists what was asked for on one order and is not decided yet, oldest first.
func (l *Ledger) Undecided(ctx context.Context, key order.Key) ([]order.Request, error) {
	rows, err := l.pool.Query(ctx, `
SELECT environment, session, request_id, kind, who, why FROM requests
WHERE environment = $1 AND session = $2 AND carried_out_at IS NULL ORDER BY created_at`, key.Environment, key.Session)
	if err != nil {
		return nil, safe("list requests", err)
	}
	found, err := pgx.CollectRows(rows, scanRequest)
	return found, safe("list requests", err)
}

func scanRequest(row pgx.CollectableRow) (order.Request, error) {
	var r order.Request
	return r, row.Scan(&r.Key.Environment, &r.Key.Session, &r.ID, &r.Kind, &r.Who, &r.Why)
}

// Decided reads what became of a request; false when it has not been decided yet.
func (l *Ledger) Decided(ctx context.Context, r order.Request) (order.Decision, bool, error) {
	var d order.Decision
	var decided bool
	err := l.pool.QueryRow(ctx, selectDecision, r.Key.Environment, r.Key.Session, r.ID, r.Kind).
		Scan(&decided, &d.Outcome, &d.Refusal, &d.Generation)
	if noRows(err) {
		return order.Decision{}, false, nil
	}
	return d, decided, safe("read a request", err)
}

const selectDecision = `
SELECT carried_out_at IS NOT NULL, split_part(coalesce(outcome, ''), ' ', 1), split_part(coalesce(outcome, ''), ' ', 2), coalesce(generation, 0)
FROM requests WHERE environment = $1 AND session = $2 AND request_id = $3 AND kind = $4`

// Resend decides a request for a new email, once: a repetition gets the first decision.
func (l *Ledger) Resend(ctx context.Context, r order.Request) (order.Decision, error) {
	return l.decide(ctx, r, "decide a resend", func(tx pgx.Tx, d *order.Decision) error { return decideResend(ctx, tx, r, d) })
}

// decide takes a decision that has not been taken before. Two requests that come together are decided one after the other.
func (l *Ledger) decide(ctx context.Context, r order.Request, what string, take func(pgx.Tx, *order.Decision) error) (order.Decision, error) {
	var d order.Decision
	err := l.inTx(ctx, func(tx pgx.Tx) error {
		if err := lockOrder(ctx, tx, r.Key); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, insertRequest, r.Key.Environment, r.Key.Session, r.ID, r.Kind, r.Who, r.Why, r.Address); err != nil {
			return err
		}
		var decided bool
		if err := tx.QueryRow(ctx, selectDecision, r.Key.Environment, r.Key.Session, r.ID, r.Kind).
			Scan(&decided, &d.Outcome, &d.Refusal, &d.Generation); err != nil {
			return err
		}
		if decided {
			d.Repeated = true
			return nil
		}
		err := take(tx, &d)
		if err != nil {
			return err
		}
		d.Attention, err = attendAgain(ctx, tx, r.Key)
		return err
	})
	return d, safe(what, err)
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

// resendFacts reads what the rule needs, and what is known of the earlier message in safe words.
func resendFacts(ctx context.Context, tx pgx.Tx, r order.Request) (facts order.ResendFacts, evidence string, err error) {
	var class order.Class
	var told string // what the provider's events say of it
	var accepted, stopped bool
	var open, granted int
	err = tx.QueryRow(ctx, `
SELECT o.payment, coalesce(q.address, o.address, o.buyer_email, ''),
       coalesce(e.subject::int, 0), coalesce(e.finished_at IS NULL AND e.stopped_at IS NULL, false), coalesce(e.recipient, ''),
       coalesce(e.failure_class, ''), e.finished_at IS NOT NULL, e.stopped_at IS NOT NULL, coalesce(e.finished_at > q.created_at, false),
       coalesce((SELECT string_agg(DISTINCT v.delivery, ', ') FROM email_evidence v WHERE v.delivery <> ''
           AND (v.message_id = e.provider_id OR v.environment = $1 AND v.session = $2 AND v.generation::text = e.subject)), ''),
       (SELECT count(*) FROM obligations a WHERE a.environment = $1 AND a.session = $2 AND a.kind = 'access' AND a.finished_at IS NULL AND a.wanted = 'granted'),
       (SELECT count(*) FROM grants g JOIN obligations a ON a.environment = $1 AND a.session = $2 AND a.kind = 'access' AND a.wanted = 'granted'
           AND a.product = g.product AND a.access_kind = g.access_kind AND coalesce(a.file, '') = g.file
        WHERE g.environment = $1 AND g.session = $2 AND g.state = 'granted')
FROM orders o
JOIN requests q ON q.environment = $1 AND q.session = $2 AND q.request_id = $3 AND q.kind = $4
LEFT JOIN LATERAL (
    SELECT * FROM obligations b WHERE b.environment = $1 AND b.session = $2 AND b.kind = 'email' ORDER BY b.subject::int DESC LIMIT 1
) e ON true
WHERE o.environment = $1 AND o.session = $2`, r.Key.Environment, r.Key.Session, r.ID, r.Kind).
		Scan(&facts.Payment, &facts.Address, &facts.Generation, &facts.Open, &facts.Recipient, &class, &accepted, &stopped, &facts.Answered, &told, &open, &granted)
	if noRows(err) {
		return order.ResendFacts{Payment: order.PaymentPending}, "unknown order", nil
	}
	for word := range strings.SplitSeq(told, ", ") {
		if order.Delivery(word).CameBack() {
			facts.Answered = false // what came back is not what was asked for
		}
	}
	facts.Access = order.AccessPending
	if open == 0 && granted > 0 {
		facts.Access = order.AccessGranted
	}
	return facts, knownOf(facts, class, told, accepted, stopped), err
}

func knownOf(f order.ResendFacts, class order.Class, told string, accepted, stopped bool) string {
	switch {
	case f.Generation == 0:
		return "no earlier email"
	case accepted && told != "":
		return fmt.Sprintf("generation %d: accepted; the provider tells: %s", f.Generation, told)
	case accepted:
		return fmt.Sprintf("generation %d: accepted", f.Generation)
	case stopped:
		return fmt.Sprintf("generation %d: stopped, %s", f.Generation, class)
	case class != "":
		return fmt.Sprintf("generation %d: under way, last failure %s", f.Generation, class)
	}
	return fmt.Sprintf("generation %d: under way", f.Generation)
}

// nextGeneration ends the automatic attempts of a generation that goes to another address and makes the next one owed.
func nextGeneration(ctx context.Context, tx pgx.Tx, r order.Request, f order.ResendFacts, generation int) error {
	if f.Open {
		if _, err := tx.Exec(ctx, `
UPDATE obligations SET superseded_at = now(), stopped_at = now()
WHERE environment = $1 AND session = $2 AND kind = 'email' AND subject = $3 AND finished_at IS NULL`,
			r.Key.Environment, r.Key.Session, strconv.Itoa(f.Generation)); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `INSERT INTO obligations (environment, session, kind, subject) VALUES ($1, $2, 'email', $3)`,
		r.Key.Environment, r.Key.Session, strconv.Itoa(generation))
	return err
}

// readdress notes where messages go from now on, and that a person has dealt with a stopped email.
func readdress(ctx context.Context, tx pgx.Tx, r order.Request, f order.ResendFacts) error {
	_, err := tx.Exec(ctx, `
UPDATE orders SET
    address = CASE WHEN $3 = coalesce(address, buyer_email, '') THEN address ELSE $3 END,
    attention_step = CASE WHEN attention_step = 'email' THEN NULL ELSE attention_step END,
    attention_reason = CASE WHEN attention_step = 'email' THEN NULL ELSE attention_reason END,
    attention_class = CASE WHEN attention_step = 'email' THEN NULL ELSE attention_class END,
    attention_at = CASE WHEN attention_step = 'email' THEN NULL ELSE attention_at END
WHERE environment = $1 AND session = $2 AND ($3 <> coalesce(address, buyer_email, '') OR attention_step = 'email')`,
		r.Key.Environment, r.Key.Session, f.Address)
	return err
}

// conclude stores the decision, and writes down who took it, why, and what was known of the earlier message.
func conclude(ctx context.Context, tx pgx.Tx, r order.Request, d order.Decision, evidence string) error {
	outcome := string(d.Outcome)
	if d.Refusal != "" {
		outcome += " " + string(d.Refusal)
	}
	_, err := tx.Exec(ctx, `
WITH decided AS (
    UPDATE requests SET carried_out_at = now(), outcome = $4, generation = nullif($5, 0)
    WHERE environment = $1 AND session = $2 AND request_id = $3 AND kind = $7
    RETURNING who, why
)
INSERT INTO audit (environment, session, who, what, why) SELECT $1, $2, who, $6, why FROM decided`,
		r.Key.Environment, r.Key.Session, r.ID, outcome, d.Generation, fmt.Sprintf("%s: %s (%s)", r.Kind, outcome, evidence), r.Kind)
	return err
}

// Refuse writes down a request that could not be understood.
func (l *Ledger) Refuse(ctx context.Context, r order.Request, refusal order.Refusal) error {
	return safe("refuse a request", l.inTx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, insertRequest, r.Key.Environment, r.Key.Session, r.ID, r.Kind, r.Who, r.Why, "")
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return conclude(ctx, tx, r, order.Decision{Outcome: order.OutcomeRefused, Refusal: refusal}, "nothing was done")
	}))
}
