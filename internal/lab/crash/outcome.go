package crash

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/lab/harness"
	"handover/internal/order"
)

// Outcome is what an order has become: the three facts as the buyer sees them, what the ledger holds, and what the
// sandbox counted.
type Outcome struct {
	Payment   order.PaymentState
	Access    order.AccessState
	Email     order.EmailState
	Buyer     order.CustomerState
	Attention order.Reason
	Open      int // obligations that somebody still has to work on
	Stopped   int // obligations that wait for a person
	Claims    int // obligations that somebody holds
	Granted   int // grants that open
	Grants    int // of whatever state
	// Complete says that the newest message holds exactly the licence keys of the ledger.
	Complete  bool
	Retrieves int
	Messages  []Sent // by generation
}

// Sent is what the sandbox saw of one generation of the email.
type Sent struct{ Calls, Accepted, Bodies int }

// Outcome is what the order has become so far.
func (s *Shop) Outcome(session string) Outcome {
	s.t.Helper()
	status := s.Status(session)
	o := Outcome{Payment: status.Payment.State, Access: status.Access.State, Email: status.Email.State, Buyer: status.CustomerState}
	var keys []string
	var generations int
	s.query(func(ctx context.Context, conn *pgx.Conn) error {
		err := conn.QueryRow(ctx, `
SELECT coalesce((SELECT reason FROM attention w WHERE w.session = o.session ORDER BY since LIMIT 1), ''),
       (SELECT count(*) FROM obligations b WHERE b.session = o.session AND finished_at IS NULL AND stopped_at IS NULL),
       (SELECT count(*) FROM obligations b WHERE b.session = o.session AND finished_at IS NULL AND stopped_at IS NOT NULL),
       (SELECT count(*) FROM obligations b WHERE b.session = o.session AND token IS NOT NULL),
       (SELECT count(*) FROM grants g WHERE g.session = o.session AND state = 'granted'),
       (SELECT count(*) FROM grants g WHERE g.session = o.session),
       (SELECT coalesce(array_agg(secret ORDER BY secret), '{}') FROM grants g WHERE g.session = o.session AND secret <> ''),
       (SELECT count(*) FROM obligations b WHERE b.session = o.session AND kind = 'email')
FROM orders o WHERE session = $1`, session).
			Scan(&o.Attention, &o.Open, &o.Stopped, &o.Claims, &o.Granted, &o.Grants, &keys, &generations)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // no webhook has reported it yet
		}
		return err
	})
	counts := s.Sandbox.Counts()
	o.Retrieves = counts.Stripe.Retrieves[session]
	for generation := 1; generation <= generations; generation++ {
		k := counts.Emails.ByKey[harness.EmailKey(session, generation)]
		o.Messages = append(o.Messages, Sent{Calls: k.Calls, Accepted: k.Accepted, Bodies: k.Bodies})
	}
	for _, m := range s.Sandbox.Messages() {
		if strings.HasPrefix(m.Key, "handover/test/"+session+"/") {
			o.Complete = slices.Equal(slices.Sorted(slices.Values(harness.Licenses(m.Text))), keys)
		}
	}
	return o
}

// AwaitOutcome waits until nothing is left to do on an order, its workflow only listens, and the buyer sees what is
// wanted. Whether the numbers are right as well is for the test to compare: a wrong one must not pass for a slow one.
func (s *Shop) AwaitOutcome(session string, want Outcome) {
	s.t.Helper()
	s.Eventually(session+" has ended", func() bool {
		got := s.Outcome(session)
		return got.Buyer == want.Buyer && got.Email == want.Email && got.Open == 0 && len(got.Messages) >= len(want.Messages) && s.idle(session)
	})
}

// idle says that nothing is under way in the order's workflow, and nothing is about to be.
func (s *Shop) idle(session string) bool {
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Second)
	defer cancel()
	d, err := s.Temporal.DescribeWorkflow(ctx, harness.WorkflowID(session), "")
	return err == nil && len(d.RawResponse.PendingActivities) == 0 && d.RawResponse.PendingWorkflowTask == nil
}

// Rows is the whole ledger as text. Passes over the ledger note their time, which is nobody's work.
func (s *Shop) Rows() string {
	s.t.Helper()
	var b strings.Builder
	s.query(func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, `
SELECT table_name FROM information_schema.tables
WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> 'reconciliations' ORDER BY 1`)
		if err != nil {
			return err
		}
		tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		for _, table := range tables {
			lines, err := conn.Query(ctx, `SELECT to_jsonb(t)::text FROM `+pgx.Identifier{table}.Sanitize()+` t ORDER BY 1`)
			if err != nil {
				return err
			}
			texts, err := pgx.CollectRows(lines, pgx.RowTo[string])
			if err != nil {
				return err
			}
			for _, text := range texts {
				b.WriteString(table + " " + text + "\n")
			}
		}
		return nil
	})
	return b.String()
}

// Exec changes rows behind the ledger's back: time is moved this way, not waited for. It wants rows to change.
func (s *Shop) Exec(sql string, args ...any) {
	s.t.Helper()
	s.query(func(ctx context.Context, conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, sql, args...)
		if err == nil && tag.RowsAffected() == 0 {
			s.t.Fatalf("nothing to change: %s", sql)
		}
		return err
	})
}
