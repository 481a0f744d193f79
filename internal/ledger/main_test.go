package ledger_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"handover/internal/lab/stack/testenv"
	"handover/internal/ledger"
	"handover/internal/order"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// The two addresses of all tests, and the name: no error may ever hold them.
const (
	alex = "alex+shop@example.com"
	kim  = "kim.o'neil@example.org"
	name = "Alex Example"
)

// env is one order in a ledger.
type env struct {
	t    testing.TB
	pool *pgxpool.Pool
	*ledger.Ledger
	key order.Key
}

// newEnv gives the test an order of its own in the database that all tests share.
func newEnv(t testing.TB) *env {
	t.Helper()
	pool := testenv.Shared(t)
	return &env{t: t, pool: pool, Ledger: ledger.New(pool), key: newKey()}
}

// ownEnv gives the test a database of its own, for what looks at all orders.
func ownEnv(t testing.TB) *env {
	t.Helper()
	pool := testenv.Migrated(t)
	return &env{t: t, pool: pool, Ledger: ledger.New(pool), key: newKey()}
}

func newKey() order.Key { return order.Key{Environment: "test", Session: "cs_test_" + rand.Text()} }

// another is a second order in the same ledger.
func (b *env) another() *env {
	return &env{t: b.t, pool: b.pool, Ledger: b.Ledger, key: newKey()}
}

// event is a checkout event of the order.
func (b *env) event(id string) ledger.WebhookEvent {
	return ledger.WebhookEvent{
		Environment: b.key.Environment, ID: "evt_" + id + "_" + b.key.Session, Type: "checkout.session.completed", Kind: "checkout",
		Session: b.key.Session,
	}
}

func (b *env) store(e ledger.WebhookEvent) ledger.Stored {
	b.t.Helper()
	stored, err := b.StoreEvent(b.t.Context(), e)
	b.must(err)
	return stored
}

// guide is what the tests' product gives.
func guide(units int64) []order.Entitlement {
	return []order.Entitlement{
		{Product: "guide", Kind: "download", File: "guide.pdf", Units: units},
		{Product: "guide", Kind: "license", Units: units},
	}
}

// paid is what a look at a paid session proves.
func (b *env) paid() order.Assessment {
	return order.Assessment{
		Key: b.key, State: order.PaymentConfirmed, Ref: "pi_" + b.key.Session, Total: order.Money{Minor: 1200, Currency: "eur"}, Email: alex, Name: name,
		Items:        []order.Item{{Line: 1, Refs: []string{"price_guide", "prod_guide"}, Name: "The Guide", Quantity: 2, Product: "guide"}},
		Entitlements: guide(2),
	}
}

func (b *env) record(p order.Assessment) (order.PaymentState, order.Reason) {
	b.t.Helper()
	r, err := b.RecordPayment(b.t.Context(), p)
	b.must(err)
	return r.Payment, r.Reason
}

// Finish is the ledger's, for tests that need its error only.
func (b *env) Finish(ctx context.Context, w ledger.ObligationID, token, providerID string) error {
	_, err := b.Ledger.Finish(ctx, w, token, providerID)
	return err
}

// GrantLocal is the ledger's, for tests that need no snapshot.
func (b *env) GrantLocal(ctx context.Context, key order.Key, kinds []order.AccessKind, issue ledger.Issuer) (int, error) {
	n, _, err := b.Ledger.GrantLocal(ctx, key, kinds, issue)
	return n, err
}

// pay has the order paid for, with everything owed.
func (b *env) pay() *env {
	b.t.Helper()
	if state, _ := b.record(b.paid()); state != order.PaymentConfirmed {
		b.t.Fatalf("the payment is %s", state)
	}
	return b
}

var ownKinds = []order.AccessKind{"download", "license"}

// makeGuide makes one download, and a licence key for each unit.
func makeGuide(due order.Entitlement) ([]order.Grant, error) {
	if due.Kind == "download" {
		return []order.Grant{{Unit: 1}}, nil
	}
	var grants []order.Grant
	for unit := range due.Units {
		grants = append(grants, order.Grant{Unit: unit + 1, Secret: rand.Text()})
	}
	return grants, nil
}

// give has the access granted.
func (b *env) give() *env {
	b.t.Helper()
	_, err := b.GrantLocal(b.t.Context(), b.key, ownKinds, makeGuide)
	b.must(err)
	return b
}

// terms are long enough for no test to meet their end by accident.
var terms = ledger.LeaseOptions{Duration: time.Hour, MaxAttempts: 8, Window: 23 * time.Hour}

func (b *env) work(generation int) ledger.ObligationID {
	return ledger.EmailObligation(b.key, generation)
}

// render makes a message as the worker does, with everything of the order in it.
func render(d ledger.EmailData) (ledger.Rendered, error) {
	var text strings.Builder
	fmt.Fprintf(&text, "Hello %s,\n", d.Name)
	for _, g := range d.Grants {
		fmt.Fprintf(&text, "%s %s %s\n", g.Product, g.Kind, g.Secret)
	}
	return ledger.Rendered{
		Message: order.Message{
			From: "Shop <shop@example.com>", To: d.Address, Subject: "Your order", Text: text.String(), HTML: "<p>{link}</p>",
			Tags: []order.Tag{{Name: order.TagSession, Value: d.Key.Session}},
		},
		LinkSecret: "secret-1",
		LinkHash:   linkHash(d.Key, d.LinkVersion),
	}, nil
}

func linkHash(key order.Key, version int) []byte {
	return fmt.Appendf(nil, "%s %d", key, version)
}

func (b *env) claim(generation int) ledger.EmailClaim {
	b.t.Helper()
	claim, err := b.ClaimEmail(b.t.Context(), b.work(generation), terms, render)
	b.must(err)
	return claim
}

// accept has one generation of the email accepted by the provider.
func (b *env) accept(generation int) *env {
	b.t.Helper()
	claim := b.claim(generation)
	b.must(b.Finish(b.t.Context(), b.work(generation), claim.Token, b.message(generation)))
	return b
}

// report has the email provider's event stored.
func (b *env) report(e order.EmailEvent) ledger.EmailEvidence {
	b.t.Helper()
	evidence, err := b.RecordEmailEvent(b.t.Context(), e)
	b.must(err)
	return evidence
}

// message is the provider's id of a generation's message.
func (b *env) message(generation int) string {
	return fmt.Sprintf("msg_%d_%s", generation, b.key.Session)
}

func (b *env) view() order.View {
	b.t.Helper()
	v, err := b.Order(b.t.Context(), b.key)
	b.must(err)
	b.agreesWithTheSnapshot(v)
	return v
}

// agreesWithTheSnapshot compares what people see of an order with what its run is steered by.
func (b *env) agreesWithTheSnapshot(v order.View) {
	b.t.Helper()
	got, err := b.Snapshot(b.t.Context(), b.key)
	b.must(err)
	want := order.Snapshot{AsOf: got.AsOf, Payment: v.Facts.Payment, Access: v.Facts.Access, Email: v.Facts.Email, Generation: 1,
		ReversalDue: v.ReversalDue, AccessChangeDue: v.AccessChangeDue, Reason: v.Reason}
	if v.ConfirmedAt != nil {
		want.ConfirmedAt = v.ConfirmedAt.UnixMicro()
	}
	if ended := v.Facts.Access == order.AccessRevoked || v.Facts.Access == order.AccessHeld; ended && got.Access == order.AccessGranted {
		want.Access = got.Access // people see at once what its run has still to carry out
	}
	if n := len(v.Emails); n > 0 {
		want.Generation, want.EmailSuspended = v.Emails[n-1].Generation, v.Emails[n-1].Suspended
	}
	if got != want || got.AsOf == 0 {
		b.t.Errorf("snapshot %+v, view %+v", got, want)
	}
}

// exec changes rows behind the ledger's back: time is moved this way, not waited for.
func (b *env) exec(sql string, args ...any) {
	b.t.Helper()
	tag, err := b.pool.Exec(b.t.Context(), sql, args...)
	b.must(err)
	if tag.RowsAffected() == 0 {
		b.t.Fatalf("nothing to change: %s", sql)
	}
}

// expire lets the order's claims run out.
func (b *env) expire() {
	b.t.Helper()
	b.exec(`UPDATE obligations SET claim_expires_at = clock_timestamp() WHERE session = $1 AND token IS NOT NULL`, b.key.Session)
}

func (b *env) count(sql string, args ...any) int {
	b.t.Helper()
	var n int
	b.must(b.pool.QueryRow(b.t.Context(), sql, args...).Scan(&n))
	return n
}

func (b *env) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// denied is why a claim was not given.
func denied(t testing.TB, err error) *ledger.NotClaimableError {
	t.Helper()
	var d *ledger.NotClaimableError
	if !errors.As(err, &d) {
		t.Fatalf("got %v, want a denied claim", err)
	}
	return d
}

// atOnce calls f so often at the same moment and waits for all.
func atOnce(n int, f func(i int)) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-start
			f(i)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
}
