package soak

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/ledger"
	"handover/internal/order"
)

// Facts are everything that an order is checked by: the providers' side, and the ledger's.
type Facts struct {
	*Record
	Fired    []int // how often each of the plan's faults caught a request
	Messages []Message
	Keys     []Key // of the generations, from the first

	Known    bool       // the ledger has the order
	View     order.View // what it shows of it
	Override Override
	EndedAt  time.Time // when the newest end of access was carried out; zero when access has not ended
	Waiting  []string  // what still has to happen by itself
	Door     int       // what the newest message's link was answered with; 0 when nobody has tried it
}

// Message is an email that the provider accepted.
type Message struct {
	Key      string
	At       time.Time
	To       string
	Licenses []string
	Link     string
}

// Key is what happened under the idempotency key of one generation.
type Key struct{ Calls, Accepted, Bodies int }

// Override is what a person has decided last about the access, and what the ledger knew of the money then.
type Override struct {
	What     order.Override
	At       time.Time
	Refunded int64
	Dispute  order.Dispute
}

// read collects the facts of this moment.
func (r *run) read(ctx context.Context, pool *pgxpool.Pool) ([]Facts, error) {
	l := ledger.New(pool)
	all := make([]Facts, len(r.records))
	at := map[string]int{}
	for i, b := range r.records {
		all[i] = Facts{Record: b}
		at[b.Order.Session] = i
		v, err := l.Order(ctx, order.Key{Environment: "test", Session: b.Order.Session})
		switch {
		case err == nil:
			all[i].Known, all[i].View = true, v
		case !errors.Is(err, ledger.ErrNotFound):
			return nil, err
		}
	}
	of := func(session string) *Facts {
		if i, found := at[session]; found {
			return &all[i]
		}
		return nil
	}
	for _, read := range []func(context.Context, *pgxpool.Pool, func(string) *Facts) error{readVerdicts, readEnds, readWaiting} {
		if err := read(ctx, pool, of); err != nil {
			return nil, err
		}
	}
	r.readSandbox(all, of)
	return all, nil
}

func (r *run) readSandbox(all []Facts, of func(string) *Facts) {
	fired := map[string]int{}
	for _, f := range r.shop.Sandbox.Faults() {
		fired[f.ID] = f.Fired
	}
	counts := r.shop.Sandbox.Counts()
	for i := range all {
		for _, id := range all[i].FaultIDs {
			all[i].Fired = append(all[i].Fired, fired[id])
		}
		for _, k := range keysOf(all[i].Order.Session, counts) {
			all[i].Keys = append(all[i].Keys, Key{k.Calls, k.Accepted, k.Bodies})
		}
	}
	for _, m := range r.shop.Sandbox.Messages() {
		session, _ := strings.CutPrefix(m.Order(), "test/")
		if f := of(session); f != nil {
			link, _ := harness.Link(m.Text)
			f.Messages = append(f.Messages, Message{m.Key, m.AcceptedAt, strings.Join(m.To, " "), harness.Licenses(m.Text), link})
		}
	}
}

// keysOf lists the keys of all generations that an order may have.
func keysOf(session string, counts sandbox.Counts) (keys []sandbox.KeyCount) {
	for generation := 1; generation <= order.MostGenerations; generation++ {
		k := counts.Emails.ByKey[harness.EmailKey(session, generation)]
		keys = append(keys, k)
	}
	return keys
}

// readVerdicts takes the decisions in the sequence in which they were taken: each is a line of the audit, written under
// the order's lock.
func readVerdicts(ctx context.Context, pool *pgxpool.Pool, of func(string) *Facts) error {
	rows, err := pool.Query(ctx, `
SELECT a.session, split_part(a.what, ':', 1), a.at, o.verdict_refunded, o.verdict_dispute
FROM audit a JOIN orders o USING (environment, session)
WHERE a.what LIKE 'revoke: revoking%' OR a.what LIKE 'restore: restoring%' ORDER BY a.id`)
	if err != nil {
		return err
	}
	var session, what string
	var v Override
	_, err = pgx.ForEachRow(rows, []any{&session, &what, &v.At, &v.Refunded, &v.Dispute}, func() error {
		v.What = order.OverrideRevoke
		if what == "restore" {
			v.What = order.OverrideRestore
		}
		if f := of(session); f != nil {
			f.Override = v
		}
		return nil
	})
	return err
}

// readEnds finds the orders of which nothing is to be open any more, and since when nothing is.
func readEnds(ctx context.Context, pool *pgxpool.Pool, of func(string) *Facts) error {
	rows, err := pool.Query(ctx, `
SELECT a.session, max(r.finished_at) FROM obligations a
LEFT JOIN obligations r ON r.environment = a.environment AND r.session = a.session AND r.subject = a.subject AND r.kind = 'access_change'
WHERE a.kind = 'access'
GROUP BY a.session HAVING bool_and(a.wanted = 'revoked' AND r.finished_at IS NOT NULL)`)
	if err != nil {
		return err
	}
	var session string
	var ended time.Time
	_, err = pgx.ForEachRow(rows, []any{&session, &ended}, func() error {
		if f := of(session); f != nil {
			f.EndedAt = ended
		}
		return nil
	})
	return err
}

// readWaiting lists what has been reported and asked for, and not been dealt with.
func readWaiting(ctx context.Context, pool *pgxpool.Pool, of func(string) *Facts) error {
	rows, err := pool.Query(ctx, `
SELECT coalesce(session, ''), 'event ' || type FROM webhook_events WHERE dispatched_at IS NULL
UNION ALL SELECT session, 'request to ' || kind FROM requests WHERE carried_out_at IS NULL
UNION ALL SELECT session, 'check of the money' FROM orders WHERE reversal_due_at IS NOT NULL AND payment = 'confirmed'
    AND NOT EXISTS (SELECT FROM attention w WHERE w.environment = orders.environment AND w.session = orders.session AND w.step = 'reversal')
UNION ALL SELECT session, kind || ' ' || subject || ', attempt ' || attempts FROM open_obligations WHERE superseded_at IS NULL
UNION ALL SELECT session, 'payment' FROM orders WHERE payment = 'pending'
    AND NOT EXISTS (SELECT FROM attention w WHERE w.environment = orders.environment AND w.session = orders.session)`)
	if err != nil {
		return err
	}
	var session, what string
	_, err = pgx.ForEachRow(rows, []any{&session, &what}, func() error {
		if f := of(session); f != nil {
			f.Waiting = append(f.Waiting, what)
		}
		return nil
	})
	return err
}

func (f Facts) key() string { return "test/" + f.Order.Session }
