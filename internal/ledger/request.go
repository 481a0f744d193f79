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

// StoreRequest stores a request before it is signalled, so that an address never has to be in the signal, and so that a signal
// that cannot be sent now is sent later.
func (l *Ledger) StoreRequest(ctx context.Context, r order.Request) error {
	_, err := l.pool.Exec(ctx, insertRequest, newRequestArgs(r))
	return safe("store a request", err)
}

const insertRequest = `
INSERT INTO requests (environment, session, request_id, kind, who, why, address)
VALUES (@environment, @session, @request, @kind, @who, @why, nullif(@address, '')) ON CONFLICT DO NOTHING`

func newRequestArgs(r order.Request) pgx.StrictNamedArgs {
	return requestArgs(r, pgx.StrictNamedArgs{"who": r.Who, "why": r.Why, "address": r.Address})
}

// requestArgs are the named arguments of a statement about one request, and those given beside its name.
func requestArgs(r order.Request, more pgx.StrictNamedArgs) pgx.StrictNamedArgs {
	args := orderArgs(r.Key, more)
	args["request"], args["kind"] = r.ID, r.Kind
	return args
}

// How often buyers may ask for their email by themselves.
const (
	buyerPause       = 10 * time.Minute
	maxBuyerRequests = 5
)

// StoreBuyerRequest stores a buyer's own request to have the email again, at most one in every ten minutes and five in
// all, and says how long to wait otherwise. Requests that come together are decided one after the other.
func (l *Ledger) StoreBuyerRequest(ctx context.Context, r order.Request) (stored bool, wait time.Duration, err error) {
	err = l.inTx(ctx, func(tx pgx.Tx) error {
		if err := lockOrder(ctx, tx, r.Key); err != nil {
			return err
		}
		var count int
		if err := tx.QueryRow(ctx, `
SELECT count(*), greatest(coalesce(max(created_at) + @pause::interval - clock_timestamp(), '0'), '0')
FROM requests WHERE environment = @environment AND session = @session AND who = @who`,
			orderArgs(r.Key, pgx.StrictNamedArgs{"who": r.Who, "pause": buyerPause})).Scan(&count, &wait); err != nil {
			return err
		}
		if count >= maxBuyerRequests {
			wait = buyerPause
		}
		if wait > 0 {
			return nil
		}
		r.Address = ""
		tag, err := tx.Exec(ctx, insertRequest, newRequestArgs(r))
		stored = tag.RowsAffected() == 1
		return err
	})
	return stored, wait, safe("store a buyer's request", err)
}

// lockOrder makes the decisions on one order wait for each other. It lets those pass who only refer to the order: a grant,
// which takes its obligation first, must not wait for a decision that wants the same obligation.
func lockOrder(ctx context.Context, tx pgx.Tx, key order.Key) error {
	_, err := tx.Exec(ctx, `SELECT FROM orders WHERE environment = @environment AND session = @session FOR NO KEY UPDATE`, orderArgs(key, nil))
	return err
}

// MarkSignalled notes that a request is on its way to its workflow.
func (l *Ledger) MarkSignalled(ctx context.Context, key order.Key, id string) error {
	_, err := l.pool.Exec(ctx, `
UPDATE requests SET signalled_at = now() WHERE environment = @environment AND session = @session AND request_id = @request`,
		orderArgs(key, pgx.StrictNamedArgs{"request": id}))
	return safe("mark a request", err)
}

// requestRow is a stored request without its address, which never leaves the ledger.
type requestRow struct {
	order.Key
	ID, Kind, Who, Why string
}

const selectRequests = `
SELECT environment, session, request_id AS id, kind, who, why FROM requests WHERE carried_out_at IS NULL`

// Waiting lists requests that were stored, or signalled, longer than grace ago and are still not decided. Each signal
// doubles the wait for the next: while no worker runs, a history must not fill with them.
func (l *Ledger) Waiting(ctx context.Context, grace time.Duration, limit int) ([]order.Request, error) {
	rows, _ := l.pool.Query(ctx, selectRequests+`
  AND kind IN ('resend', 'retry', 'revoke', 'restore', 'relink')
  AND CASE WHEN signalled_at IS NULL THEN created_at < now() - least(@grace::interval, '5 seconds')
      ELSE signalled_at < now() - greatest(@grace::interval, signalled_at - created_at) END
ORDER BY created_at LIMIT @limit`, pgx.StrictNamedArgs{"grace": grace, "limit": limit})
	return collectRequests(rows)
}

// Undecided lists what was asked for on one order and is not decided yet, oldest first.
func (l *Ledger) Undecided(ctx context.Context, key order.Key) ([]order.Request, error) {
	rows, _ := l.pool.Query(ctx, selectRequests+` AND environment = @environment AND session = @session ORDER BY created_at`, orderArgs(key, nil))
	return collectRequests(rows)
}

func collectRequests(rows pgx.Rows) ([]order.Request, error) {
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[requestRow])
	requests := make([]order.Request, len(found))
	for i, r := range found {
		requests[i] = order.Request{Key: r.Key, ID: r.ID, Kind: r.Kind, Who: r.Who, Why: r.Why}
	}
	return requests, safe("list requests", err)
}

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
