package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"handover/internal/config"
	"handover/internal/flow"
	"handover/internal/lab/stack/testenv"
	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

const product = "field-guide"

var catalogue = order.NewCatalogue([]order.Product{{
	ID: product, Name: "The Field Guide", SoldAs: []string{"price_1Abc"}, Refund: order.RefundFull, Dispute: order.DisputeHold,
	Access: []order.AccessSpec{{Kind: "download", File: "field-guide.pdf"}},
}})

// shop is a ledger of its own, with a fake Temporal that carries out what a worker would.
type shop struct {
	in     string // standard input of the next commands
	t      *testing.T
	pool   *pgxpool.Pool
	ledger *ledger.Ledger
	env    map[string]string
	runs   *fakeRuns
	books  payment.Provider
	said   bytes.Buffer // everything that the commands printed, for the golden file
}

func newShop(t *testing.T) *shop {
	t.Helper()
	address := testenv.Database(t)
	pool, err := ledger.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s := &shop{t: t, pool: pool, ledger: ledger.New(pool), env: map[string]string{"DATABASE_URL": address}}
	s.runs = &fakeRuns{ledger: s.ledger, assessed: map[order.Key]order.Assessment{}}
	return s
}

func migratedShop(t *testing.T) *shop {
	t.Helper()
	s := newShop(t)
	_, err := ledger.Migrate(t.Context(), s.pool)
	s.must(err)
	return s
}

func (s *shop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// command runs one command line and keeps what it printed.
func (s *shop) command(args ...string) (out string, code int) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	c := newConsole(s.t.Context(), Streams{In: strings.NewReader(s.in), Out: &stdout, Err: &stderr, Getenv: func(name string) (string, bool) { v, set := s.env[name]; return v, set }})
	c.who, c.wait = "alice", 5*time.Second
	if s.runs.silent {
		c.wait = 0
	}
	c.dial = func(context.Context, *ledger.Ledger, config.Process) (dispatcher, func(), error) {
		return s.runs, func() {}, nil
	}
	c.providers = func(config.Config) (map[string]payment.Provider, error) {
		return map[string]payment.Provider{"live": s.books}, nil
	}
	code = c.run(args)

	fmt.Fprintf(&s.said, "$ starter %s\n%s", strings.Join(quoted(args), " "), &stdout)
	if stderr.Len() > 0 {
		fmt.Fprintf(&s.said, "[stderr]\n%s", &stderr)
	}
	fmt.Fprintf(&s.said, "[exit %d]\n\n", code)
	return stdout.String(), code
}

func quoted(args []string) []string {
	words := slices.Clone(args)
	for i, a := range words {
		if strings.Contains(a, " ") {
			words[i] = `"` + a + `"`
		}
	}
	return words
}

var (
	ages       = regexp.MustCompile(`\b\d+ (s|min)\b`)
	fixed      = regexp.MustCompile(`"(age|waiting)_seconds": \d+`)
	references = regexp.MustCompile(`HO-[0-9A-Z]{8}`)
	times      = regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|Z|[+-]\d\d:\d\d)?`)
)

// golden compares everything that was printed since the last call with a file. Ages and times are made equal.
func (s *shop) golden(name string) {
	s.t.Helper()
	text := ages.ReplaceAllString(s.said.String(), "0 s")
	text = fixed.ReplaceAllString(text, `"${1}_seconds": 0`)
	text = references.ReplaceAllString(text, "HO-7K3M9QXT")
	golden(s.t, name, []byte(times.ReplaceAllString(text, "2026-03-14 12:00:00Z")))
	s.said.Reset()
}

// paid is an order of one download that was paid for.
func (s *shop) paid(session string, change ...func(*order.Assessment)) order.Key {
	s.t.Helper()
	key := order.Key{Environment: "live", Session: session}
	a := order.Assessment{
		Key: key, State: order.PaymentConfirmed, Ref: "pi_" + session, Total: order.Money{Minor: 2900, Currency: "eur"}, Email: alex,
		Items:        []order.Item{{Line: 1, Refs: []string{"price_1Abc"}, Product: product, Name: "The Field Guide", Quantity: 1}},
		Entitlements: []order.Entitlement{{Product: product, Kind: "download", File: "field-guide.pdf", Units: 1}},
	}
	for _, c := range change {
		c(&a)
	}
	_, err := s.ledger.RecordPayment(s.t.Context(), a)
	s.must(err)
	s.runs.assessed[key] = a
	return key
}

// delivered is an order whose access is granted and whose email was accepted.
func (s *shop) delivered(session string) order.Key {
	s.t.Helper()
	key := s.granted(session)
	s.must(s.runs.send(s.t.Context(), key, 1))
	return key
}

func (s *shop) granted(session string) order.Key {
	s.t.Helper()
	key := s.paid(session)
	s.must(s.runs.grant(s.t.Context(), key))
	return key
}

// refused is an order whose email stopped.
func (s *shop) refused(session string, class order.Class, reason order.Reason) order.Key {
	s.t.Helper()
	key := s.granted(session)
	claim, err := s.ledger.ClaimEmail(s.t.Context(), ledger.EmailObligation(key, 1), lease, render)
	s.must(err)
	s.must(s.ledger.Stop(s.t.Context(), ledger.EmailObligation(key, 1), claim.Token, class, reason))
	return key
}

var lease = ledger.LeaseOptions{Duration: time.Hour, MaxAttempts: 8, Window: 23 * time.Hour}

func render(d ledger.EmailData) (ledger.Rendered, error) {
	return ledger.Rendered{
		Message:    order.Message{From: "Shop <shop@shop.test>", To: d.Address, Subject: "Your order", Text: "{link}"},
		LinkSecret: "one", LinkHash: fmt.Appendf(nil, "%s %d", d.Key, d.LinkVersion),
	}, nil
}

// fakeRuns is Temporal and a worker in one: a request is decided and carried out by the call that signals it.
type fakeRuns struct {
	ledger   *ledger.Ledger
	assessed map[order.Key]order.Assessment // what the provider says of an order
	away     bool                           // Temporal does not respond
	silent   bool                           // no worker runs
	started  []order.Key
}

var errAway = errors.New("connection refused")

func (f *fakeRuns) Ask(ctx context.Context, r order.Request) error {
	if f.away {
		return errAway
	}
	if !f.silent {
		if err := f.decide(ctx, r); err != nil {
			return err
		}
	}
	return f.ledger.MarkSignalled(ctx, r.Key, r.ID)
}

func (f *fakeRuns) decide(ctx context.Context, r order.Request) (err error) {
	var d order.Decision
	switch r.Kind {
	case flow.KindResend:
		d, err = f.ledger.Resend(ctx, r)
	case flow.KindRelink:
		d, err = f.ledger.Relink(ctx, r, func(e order.Entitlement) ([]order.Grant, error) {
			return []order.Grant{{Unit: 1, Secret: "NEWKY-" + rand.Text()}}, nil
		})
	case flow.KindRetry:
		_, err = f.ledger.Retry(ctx, r, time.Hour)
	case flow.KindRevoke:
		_, err = f.ledger.Revoke(ctx, r, catalogue)
	case flow.KindRestore:
		_, err = f.ledger.Restore(ctx, r, catalogue)
	}
	if err == nil && d.Outcome == order.OutcomeSending {
		err = f.send(ctx, r.Key, d.Generation)
	}
	if err == nil {
		_, err = f.ledger.ChangeLocal(ctx, r.Key, []order.AccessKind{"download"})
	}
	return err
}

func (f *fakeRuns) grant(ctx context.Context, key order.Key) error {
	_, _, err := f.ledger.GrantLocal(ctx, key, []order.AccessKind{"download"}, func(order.Entitlement) ([]order.Grant, error) {
		return []order.Grant{{Unit: 1}}, nil
	})
	return err
}

func (f *fakeRuns) send(ctx context.Context, key order.Key, generation int) error {
	work := ledger.EmailObligation(key, generation)
	claim, err := f.ledger.ClaimEmail(ctx, work, lease, render)
	if err != nil {
		return err
	}
	_, err = f.ledger.Finish(ctx, work, claim.Token, "re_1")
	return err
}

func (f *fakeRuns) Replay(ctx context.Context, key order.Key) error {
	if f.away {
		return errAway
	}
	if f.silent {
		return nil
	}
	_, err := f.ledger.RecordPayment(ctx, f.assessed[key])
	return err
}

func (f *fakeRuns) Running(context.Context, order.Key) (bool, error) { return false, nil }
func (f *fakeRuns) Review(context.Context, order.Key) error          { return nil }
func (f *fakeRuns) Ensure(_ context.Context, key order.Key) error {
	f.started = append(f.started, key)
	return nil
}

func (f *fakeRuns) DispatchStale(context.Context, time.Duration, int) (dispatched, left int, err error) {
	return 0, 0, nil
}

// writeConfig puts a handover.toml where the commands find it.
func (s *shop) writeConfig() {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "handover.toml")
	s.must(os.WriteFile(path, []byte(`public_url   = "https://downloads.example.org"
link_secrets = ["${LINK_SECRET}"]

[environments.live]
provider        = "stripe"
mode            = "live"
api_key         = "sk_live_0123456789"
webhook_secrets = ["whsec_0123456789abcdef"]
api_url         = "http://127.0.0.1:1"

[email]
provider = "resend"
api_key  = "re_0123456789"
from     = "Example Shop <orders@example.org>"
api_url  = "http://127.0.0.1:1"

[files]
bucket = "file://`+s.t.TempDir()+`"

[[products]]
id      = "field-guide"
name    = "The Field Guide"
sold_as = ["price_1Abc"]
access  = [{ kind = "download", file = "field-guide.pdf" }]
`), 0o600))
	s.env["HANDOVER_CONFIG"], s.env["LINK_SECRET"] = path, "0123456789abcdef0123456789abcdef"
}
