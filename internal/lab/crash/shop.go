// Package crash runs whole shops for tests: the real starter and worker as processes of their own, on a database and
// a task queue of their own, with the providers' sandbox as judge. Processes are killed, stopped and started again; what
// counts in the end is what the sandbox says it did.
package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/sdk/client"

	"handover/internal/lab/sandbox"
	"handover/internal/lab/stack"
	"handover/internal/lab/stack/testenv"
	"handover/internal/order"
	"handover/internal/temporalclient"
	"handover/internal/web"
)

// The secrets of the shops under test.
const (
	StripeSecret = "whsec_crashtest_payments"
	EmailSecret  = "whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1u"
	linkSecret   = "a link secret of the tests, of more than 32 bytes"
)

// Options differ from test to test.
type Options struct {
	// DatabaseURL and TemporalAddress are servers of the test's own, where it stops or kills them; empty for the shared ones.
	DatabaseURL     string
	TemporalAddress string
	// Config is added to the configuration, such as "[steps.email]\nfirst_wait = \"1s\"\n".
	Config string
	// Sandbox changes the sandbox.
	Sandbox func(*sandbox.Config)
	// Idle leaves starter and worker to the test to start.
	Idle bool
	// Points builds starter and worker so that they can be held at points: see Arm and At.
	Points bool
}

// Shop is one shop with everything it needs.
type Shop struct {
	t         testing.TB
	dir       string
	database  string
	address   string
	TaskQueue string
	PublicURL string
	AdminURL  string // the starter's
	WorkerURL string // the worker's admin address
	Judge     *sandbox.Sandbox
	Starter   *stack.Process
	Worker    *stack.Process
	// WorkerLine is the connection between Worker and Temporal. Other processes have their own.
	WorkerLine *Line

	temporal  client.Client
	points    *points
	processes []*stack.Process
}

// Open sets up a shop and starts it. Everything is gone at the end of the test.
func Open(t testing.TB, o Options) *Shop {
	t.Helper()
	s := &Shop{t: t, dir: t.TempDir(), database: o.DatabaseURL, address: o.TemporalAddress, TaskQueue: testenv.TaskQueue(t)}
	if s.database == "" {
		s.database = testenv.Database(t)
	}
	if s.address == "" {
		s.address = testenv.TemporalAddress(t)
	}
	s.PublicURL, s.AdminURL, s.WorkerURL = freeURL(t), freeURL(t), freeURL(t)
	s.WorkerLine = openLine(t, s.address)
	if o.Points {
		s.points = openPoints(t)
	}
	s.openSandbox(o)
	s.configure(o)
	t.Cleanup(func() {
		s.unschedule()
		for _, p := range s.processes {
			p.Kill()
			if t.Failed() {
				t.Logf("%s %d:\n%s", p.Name(), p.PID(), stack.Tail(p.LogFile(), 40, `"msg":"request"`))
			}
		}
	})
	if !o.Idle {
		s.StartStarter()
		s.StartWorker()
	}
	return s
}

func freeURL(t testing.TB) string {
	t.Helper()
	port, err := stack.SteadyPort() // a process that is down gets its address back
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + stack.Loopback(port)
}

func (s *Shop) openSandbox(o Options) {
	cfg := sandbox.Config{
		StripeSecret: StripeSecret, WebhookURL: s.PublicURL + "/webhooks/payments/test",
		ResendWebhookSecret: EmailSecret, EmailWebhookURL: s.PublicURL + "/webhooks/email",
	}
	if o.Sandbox != nil {
		o.Sandbox(&cfg)
	}
	judge, err := sandbox.New(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Judge = judge
}

func (s *Shop) configure(o Options) {
	server := httptest.NewServer(s.Judge.Handler())
	s.t.Cleanup(func() {
		_ = s.Judge.Close()
		server.Close()
	})
	files := filepath.Join(s.dir, "files")
	s.must(os.MkdirAll(files, 0o755))
	s.must(os.WriteFile(filepath.Join(files, "guide.pdf"), []byte("%PDF-1.4 the guide"), 0o644))
	s.must(os.WriteFile(filepath.Join(files, "Vögel.pdf"), []byte("%PDF-1.4 die Vögel"), 0o644))
	s.must(os.WriteFile(s.configPath(), fmt.Appendf(nil, configuration, s.PublicURL, server.URL, server.URL, files, o.Config), 0o600))
}

func (s *Shop) configPath() string { return filepath.Join(s.dir, "handover.toml") }

// Reconfigure changes the text of the configuration; it counts from the next start of a process.
func (s *Shop) Reconfigure(from, to string) {
	s.t.Helper()
	text, err := os.ReadFile(s.configPath())
	s.must(err)
	if !strings.Contains(string(text), from) {
		s.t.Fatalf("the configuration has no %q", from)
	}
	s.must(os.WriteFile(s.configPath(), []byte(strings.ReplaceAll(string(text), from, to)), 0o600))
}

const configuration = `
public_url   = "%[1]s"
link_secrets = ["${LINK_SECRET}"]

[environments.test]
provider        = "stripe"
mode            = "test"
api_key         = "sk_test_crashtest"
webhook_secrets = ["${STRIPE_SECRET}"]
api_url         = "%[2]s"

[email]
provider        = "resend"
api_key         = "re_crashtest"
from            = "Crash Shop <orders@shop.test>"
webhook_secrets = ["${EMAIL_SECRET}"]
rate_per_second = 500
api_url         = "%[3]s/resend"

[files]
bucket = "file://%[4]s"

[[products]]
id      = "guide"
name    = "The Guide"
sold_as = ["price_guide"]
access  = [ { kind = "download", file = "guide.pdf" }, { kind = "license" } ]

[[products]]
id      = "birds"
name    = "Vögel & Co"
sold_as = ["prod_birds"]
access  = [ { kind = "download", file = "Vögel.pdf" } ]

%[5]s
`

// StartStarter starts a starter and waits until it serves.
func (s *Shop) StartStarter() {
	s.t.Helper()
	s.Starter = s.launch("starter", "starter", []string{"serve"}, s.environment(s.AdminURL))
	s.await("starter", s.AdminURL+"/healthz", s.Starter)
}

// StartAnotherStarter starts a second starter beside the first, on addresses of its own.
func (s *Shop) StartAnotherStarter() (p *stack.Process, publicURL string) {
	s.t.Helper()
	publicURL, admin := freeURL(s.t), freeURL(s.t)
	p = s.launch("starter", "another starter", []string{"serve"}, append(s.environment(admin), "LISTEN_ADDR="+strings.TrimPrefix(publicURL, "http://")))
	s.await("another starter", admin+"/healthz", p)
	return p, publicURL
}

// StartWorker starts a worker and waits until it polls.
func (s *Shop) StartWorker() {
	s.t.Helper()
	s.Worker = s.launch("worker", "worker", nil, append(s.environment(s.WorkerURL), "TEMPORAL_ADDRESS="+s.WorkerLine.Address()))
	s.await("worker", s.WorkerURL+"/readyz", s.Worker)
}

// StartAnotherWorker starts a second worker beside the first, on an admin address of its own.
func (s *Shop) StartAnotherWorker() *stack.Process {
	s.t.Helper()
	url := freeURL(s.t)
	p := s.launch("worker", "another worker", nil, s.environment(url))
	s.await("another worker", url+"/readyz", p)
	return p
}

func (s *Shop) launch(program, name string, args, environment []string) *stack.Process {
	s.t.Helper()
	path := Shipped
	if s.points != nil {
		path, environment = Pointed, append(environment, "HANDOVER_CRASHPOINTS="+s.points.url)
	}
	p, err := stack.Start(stack.Spec{Name: name, Path: path(s.t, program), Args: args, Dir: s.dir, Log: s.log(name), Env: environment})
	s.must(err)
	s.processes = append(s.processes, p)
	return p
}

func (s *Shop) environment(admin string) []string {
	return append(stack.WithoutTemporal(os.Environ()),
		"HANDOVER_CONFIG="+s.configPath(), "DATABASE_URL="+s.database, "TEMPORAL_ADDRESS="+s.address, "TASK_QUEUE="+s.TaskQueue,
		"LISTEN_ADDR="+strings.TrimPrefix(s.PublicURL, "http://"), "ADMIN_ADDR="+strings.TrimPrefix(admin, "http://"),
		"LINK_SECRET="+linkSecret, "STRIPE_SECRET="+StripeSecret, "EMAIL_SECRET="+EmailSecret)
}

func (s *Shop) log(program string) string { return filepath.Join(s.dir, program+".log") }

// Log is everything that a program has logged so far.
func (s *Shop) Log(program string) string {
	text, err := os.ReadFile(s.log(program))
	s.must(err)
	return string(text)
}

func (s *Shop) await(name, url string, p *stack.Process) {
	s.t.Helper()
	s.Eventually(name+" is ready", func() bool {
		select {
		case <-p.Done():
			s.t.Fatalf("%s ended by itself:\n%s", name, stack.Tail(s.log(name), 20))
		default:
		}
		resp, err := http.Get(url)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// Eventually polls until the condition holds; after two and a half minutes the test has failed.
func (s *Shop) Eventually(what string, holds func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 150*time.Second)
	defer cancel()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			s.t.Fatalf("it never came to this: %s", what)
		case <-tick.C:
		}
	}
}

// Status is an order as the order page tells it.
func (s *Shop) Status(session string) web.StatusJSON {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.PublicURL+"/orders/test/"+session, nil)
	s.must(err)
	req.Header.Set("Accept", "application/json")
	var status web.StatusJSON
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return status
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		s.must(json.NewDecoder(resp.Body).Decode(&status))
	}
	return status
}

// AwaitState waits until the order page says so.
func (s *Shop) AwaitState(session string, state order.CustomerState) {
	s.t.Helper()
	var last order.CustomerState
	defer func() {
		if last != state {
			s.t.Logf("the order page said last: %s", last)
		}
	}()
	s.Eventually("order "+session+" is "+string(state), func() bool {
		last = s.Status(session).CustomerState
		return last == state
	})
}

// unschedule takes the shop's schedule off the server, which other tests use too.
func (s *Shop) unschedule() {
	c, err := client.NewLazyClient(client.Options{HostPort: s.address, Logger: silent{}})
	if err != nil {
		return
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = c.ScheduleClient().GetHandle(ctx, temporalclient.ScheduleID(s.TaskQueue)).Delete(ctx) // a server of the test's own may be gone
}

// Database is a connection to the shop's database.
func (s *Shop) Database() *pgx.Conn {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.database)
	s.must(err)
	s.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// Temporal is a client of the shop's server.
func (s *Shop) Temporal() client.Client {
	s.t.Helper()
	if s.temporal == nil {
		c, err := client.NewLazyClient(client.Options{HostPort: s.address, Logger: silent{}})
		s.must(err)
		s.t.Cleanup(c.Close)
		s.temporal = c
	}
	return s.temporal
}

type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}

func (s *Shop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}
