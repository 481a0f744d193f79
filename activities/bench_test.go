package activities_test

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"handover/activities"
	"handover/internal/access"
	accessregistry "handover/internal/access/registry"
	"handover/internal/email/resend"
	"handover/internal/flow"
	"handover/internal/lab/sandbox"
	"handover/internal/lab/stack/testenv"
	"handover/internal/ledger"
	"handover/internal/link"
	"handover/internal/notify"
	"handover/internal/order"
	"handover/internal/payment/stripe"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// What must never get into a log or an error.
const (
	buyer     = "Alex.Rivers+guide@example.com"
	buyerName = "Alex Rivers"
	stripeKey = "sk_test_4242payments"
	resendKey = "re_4242emails"
)

// What the runs steer by.
const (
	openFor      = 720 * time.Hour
	awaitPayment = 336 * time.Hour
	giveUp       = 12 * time.Hour
)

func inSeconds(d time.Duration) int { return int(d.Seconds()) }

var (
	oldSecret = strings.Repeat("old-secret-", 3)
	newSecret = strings.Repeat("new-secret-", 3)
)

// bench is one order before the real ledger and stand-ins of the providers.
type bench struct {
	t       *testing.T
	pool    *pgxpool.Pool
	ledger  *ledger.Ledger
	sandbox *sandbox.Sandbox
	address string // of the sandbox
	key     order.Key
	logs    *logged
	counted *counted

	// Settings of the next worker.
	cfg         activities.Config
	secrets     []string
	products    []order.Product
	kinds       []access.Local
	callTimeout time.Duration
	mode        order.Mode
}

func newBench(t *testing.T) *bench {
	t.Helper()
	s, err := sandbox.New(sandbox.Config{StripeKeys: []string{stripeKey}, ResendKey: resendKey, Products: []sandbox.Product{
		{Price: "price_guide", Product: "prod_guide", Name: "The Guide", Amount: 1200, Currency: "eur"},
		{Price: "price_other", Product: "prod_other", Name: "Not ours", Amount: 100, Currency: "eur"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(func() { _ = s.Close() })
	pool := testenv.Shared(t)
	b := &bench{
		t: t, pool: pool, ledger: ledger.New(pool), sandbox: s, address: server.URL, logs: &logged{}, counted: &counted{},
		key: order.Key{Environment: "test", Session: "cs_test_" + rand.Text()}, secrets: []string{oldSecret}, kinds: accessregistry.Kinds().Local(),
		callTimeout: 10 * time.Second, mode: order.Test,
		cfg: activities.Config{
			From: "Shop <orders@shop.example>", ShopName: "Shop", EmailLease: time.Minute, EmailWindow: 23 * time.Hour, EmailAttempts: 8,
			PaymentWait: noWait, EmailWait: noWait,
			OpenFor: openFor, AwaitPaymentFor: awaitPayment, PaymentGiveUp: giveUp, EmailGiveUp: giveUp,
		},
		products: []order.Product{{ID: "guide", Name: "The Guide", SoldAs: []string{"price_guide"}, Access: []order.AccessSpec{
			{Kind: "download", File: "guide.pdf"}, {Kind: "license"},
		}}},
	}
	t.Cleanup(b.nothingLeaked)
	return b
}

// buy adds a checkout session at the provider: paid, two of ours, unless changed.
func (b *bench) buy(change func(*sandbox.Session)) *bench {
	b.t.Helper()
	session := sandbox.Session{ID: b.key.Session, Email: buyer, Name: buyerName, Items: []sandbox.Item{{Price: "price_guide", Quantity: 2}}}
	if change != nil {
		change(&session)
	}
	_, err := b.sandbox.CreateSession(session)
	b.must(err)
	return b
}

// worker has the activities with the bench's settings of this moment.
func (b *bench) worker() *activities.Activities {
	b.t.Helper()
	provider, err := stripe.New(stripe.Config{
		APIKey: stripeKey, WebhookSecrets: []string{"whsec_4242_of_the_webhooks"}, Mode: b.mode, APIURL: b.address, CallTimeout: b.callTimeout,
	})
	b.must(err)
	sender, err := resend.New(resend.Config{APIKey: resendKey, APIURL: b.address + "/resend", CallTimeout: b.callTimeout})
	b.must(err)
	return activities.New(activities.Deps{Owner: notify.New(notify.Config{}),
		Ledger: b.ledger, Environments: map[string]activities.Environment{"test": {Mode: b.mode, Provider: provider}},
		Catalogue: order.NewCatalogue(b.products), Kinds: b.kinds, Sender: sender, Links: b.links(), Outcomes: b.counted,
		Log: slog.New(slog.NewJSONHandler(b.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, b.cfg)
}

func (b *bench) links() *link.Signer {
	b.t.Helper()
	links, err := link.New("https://shop.example", b.secrets)
	b.must(err)
	return links
}

// execute runs one attempt at a step as a worker does.
func execute[Out any](t testing.TB, step, in any) (Out, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(time.Minute)
	env.RegisterActivity(step)
	var out Out
	var encoded converter.EncodedValue
	encoded, err := env.ExecuteActivity(step, in)
	if err == nil {
		err = encoded.Get(&out)
	}
	return out, err
}

// outcome is how a step's result says that the order stands.
type outcome struct {
	Payment                                 order.PaymentState
	Access                                  order.AccessState
	Email                                   order.EmailState
	Generation                              int
	Reason                                  order.Reason
	ReversalDue                             bool
	WaitSeconds, GiveUpSeconds, OpenSeconds int
}

// attemptAt runs one attempt at a step, whatever its result is called.
func attemptAt(t testing.TB, step, in any) (outcome, error) {
	t.Helper()
	out, err := execute[activities.DecideRequestResult](t, step, in)
	s := out.Snapshot
	return outcome{s.Payment, s.Access, s.Email, s.Generation, s.Reason, s.ReversalDue, out.WaitSeconds, out.GiveUpSeconds, out.OpenSeconds}, err
}

func (b *bench) confirm(in activities.ConfirmPaymentInput) (outcome, error) {
	b.t.Helper()
	in.Key = cmp.Or(in.Key, b.key)
	found, err := attemptAt(b.t, b.worker().ConfirmPayment, in)
	found.Access, found.Email, found.Generation = "", "", 0
	return found, err
}

func (b *bench) grant() (outcome, error) {
	b.t.Helper()
	return attemptAt(b.t, b.worker().GrantAccess, activities.GrantAccessInput{Key: b.key})
}

func (b *bench) send(generation int) (outcome, error) {
	b.t.Helper()
	sent, err := attemptAt(b.t, b.worker().SendAccessEmail, activities.SendAccessEmailInput{Key: b.key, Generation: generation})
	return outcome{Email: sent.Email, WaitSeconds: sent.WaitSeconds, GiveUpSeconds: sent.GiveUpSeconds}, err
}

func (b *bench) resend(id string) (activities.DecideRequestResult, error) {
	b.t.Helper()
	return execute[activities.DecideRequestResult](b.t, b.worker().DecideRequest,
		activities.DecideRequestInput{Key: b.key, Kind: flow.KindResend, RequestID: id, Reason: "the buyer asked"})
}

// granted has the order paid and its access granted.
func (b *bench) granted() *bench {
	b.t.Helper()
	b.buy(nil)
	if found, err := b.confirm(activities.ConfirmPaymentInput{}); err != nil || found.Payment != order.PaymentConfirmed {
		b.t.Fatalf("the payment: %+v, %v", found, err)
	}
	if given, err := b.grant(); err != nil || given.Access != order.AccessGranted {
		b.t.Fatalf("the access: %+v, %v", given, err)
	}
	return b
}

func (b *bench) fault(f sandbox.Fault) sandbox.Fault {
	b.t.Helper()
	added, err := b.sandbox.AddFault(f)
	b.must(err)
	return added
}

func (b *bench) view() order.View {
	b.t.Helper()
	v, err := b.ledger.Order(b.t.Context(), b.key)
	b.must(err)
	return v
}

// messages are what the email provider accepted, and calls what it was asked under a generation's key.
func (b *bench) messages() []sandbox.Message {
	return b.sandbox.Messages()
}

func (b *bench) calls(generation int) sandbox.KeyCount {
	return b.sandbox.Counts().Emails.ByKey[b.key.EmailKey(generation)]
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// wants checks that a step failed with the class, which is final or not as the class says.
func (b *bench) wants(err error, class order.Class) {
	b.t.Helper()
	var application *temporal.ApplicationError
	if !errors.As(err, &application) {
		b.t.Fatalf("error %v, want class %s", err, class)
	}
	if application.Type() != string(class) || application.NonRetryable() != class.Final() {
		b.t.Errorf("class %s, final %v; want %s, %v", application.Type(), application.NonRetryable(), class, class.Final())
	}
	b.clean("the error", err.Error())
}

// nothingLeaked looks at everything that was logged.
func (b *bench) nothingLeaked() { b.clean("the log", b.logs.String()) }

var token = regexp.MustCompile(`/d/|[A-Za-z0-9_-]{43}`)

func (b *bench) clean(what, text string) {
	b.t.Helper()
	needles := []string{"alex", "rivers", "@", stripeKey, resendKey, oldSecret, newSecret, "whsec", "4242secret"}
	rows, err := b.pool.Query(b.t.Context(), `SELECT secret FROM grants WHERE session = $1 AND secret <> ''`, b.key.Session)
	if err == nil {
		for rows.Next() {
			var secret string
			b.must(rows.Scan(&secret))
			needles = append(needles, secret)
		}
	}
	for _, needle := range needles {
		if strings.Contains(strings.ToLower(text), strings.ToLower(needle)) {
			b.t.Errorf("%s holds %q:\n%s", what, needle, text)
		}
	}
	if found := token.FindString(strings.ReplaceAll(text, b.key.Session, "")); found != "" {
		b.t.Errorf("%s holds what looks like a link or a token, %q:\n%s", what, found, text)
	}
}

// logged is a log that several attempts write at once.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// counted counts how steps ended.
type counted struct {
	mu   sync.Mutex
	ends []string
}

func (c *counted) StepEnded(step string, class order.Class) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends = append(c.ends, step+" "+string(class))
}

func (c *counted) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ends) == 0 {
		return ""
	}
	return c.ends[len(c.ends)-1]
}

// exec changes rows behind the ledger's back: time is moved this way, not waited for.
func (b *bench) exec(sql string, args ...any) {
	b.t.Helper()
	tag, err := b.pool.Exec(b.t.Context(), sql, args...)
	b.must(err)
	if tag.RowsAffected() == 0 {
		b.t.Fatalf("nothing to change: %s", sql)
	}
}

// closedLedger is one whose database does not answer.
func closedLedger(t *testing.T) *ledger.Ledger {
	t.Helper()
	pool, err := ledger.Connect(t.Context(), "postgres://shop:4242secret@127.0.0.1:1/none?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return ledger.New(pool)
}

func noWait(int) time.Duration { return 0 }
