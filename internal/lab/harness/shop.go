// Package harness runs a whole shop: the real starter and worker as processes of their own, on a database and a task
// queue that are given, with the providers' sandbox in this process. The crash tests, the soak and the benchmark hold,
// kill and measure what it runs.
package harness

import (
	"context"
	"net/http/httptest"
	"sync"
	"time"

	"go.temporal.io/sdk/client"

	"handover/internal/lab/sandbox"
	"handover/internal/lab/stack"
	"handover/internal/temporalclient"
)

// The secrets of every shop.
const (
	StripeSecret = "whsec_crashtest_payments"
	EmailSecret  = "whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1u"
	linkSecret   = "a link secret of the tests, of more than 32 bytes"
)

// Config is what a shop is given.
type Config struct {
	Dir             string // of the configuration, the files on sale and the logs
	DatabaseURL     string
	TemporalAddress string
	TaskQueue       string
	// TOML is added to the configuration, such as "[steps.email]\nfirst_wait = \"1s\"\n".
	TOML string
	// Sandbox changes the sandbox.
	Sandbox func(*sandbox.Config)
	// Variant is how starter and worker are built: those that can be held at failpoints for Arm and Hit.
	Variant Variant
	// Direct connects Worker to Temporal without Proxy, where it is measured.
	Direct bool
}

// Shop is one shop with everything that it needs.
type Shop struct {
	Config
	PublicURL string
	AdminURL  string // the starter's
	WorkerURL string // the worker's admin address
	Sandbox   *sandbox.Sandbox
	Temporal  client.Client
	// Proxy is the connection between Worker and Temporal. Other processes have their own.
	Proxy   *Proxy
	Starter *stack.Process
	Worker  *stack.Process

	server     *httptest.Server // the sandbox's
	failpoints *failpoints      // nil in a shop without

	mu        sync.Mutex // guards processes: several may be started at once
	processes []*stack.Process
}

// Open sets up a shop and starts nothing of the product. Close ends it, also after an error.
func Open(c Config) (s *Shop, err error) {
	s = &Shop{Config: c}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	for _, url := range []*string{&s.PublicURL, &s.AdminURL, &s.WorkerURL} {
		if *url, err = freeURL(); err != nil {
			return nil, err
		}
	}
	if s.Temporal, err = client.NewLazyClient(stack.ClientOptions(c.TemporalAddress)); err != nil {
		return nil, err
	}
	if s.Proxy, err = openProxy(c.TemporalAddress); err != nil {
		return nil, err
	}
	if c.Variant == Holdable {
		s.failpoints = openFailpoints()
	}

	settings := sandbox.Config{
		StripeSecret: StripeSecret, WebhookURL: s.PublicURL + "/webhooks/payments/test",
		ResendWebhookSecret: EmailSecret, EmailWebhookURL: s.PublicURL + "/webhooks/email",
	}
	if c.Sandbox != nil {
		c.Sandbox(&settings)
	}
	if s.Sandbox, err = sandbox.New(settings); err != nil {
		return nil, err
	}
	s.server = httptest.NewServer(s.Sandbox.Handler())
	return s, s.configure()
}

func freeURL() (string, error) {
	port, err := stack.SteadyPort() // a process that is down gets its address back
	return "http://" + stack.Loopback(port), err
}

// Close ends everything that the shop has started, and takes its schedule off the server, which others use too.
func (s *Shop) Close() {
	s.unschedule()
	for _, p := range s.Processes() {
		p.Kill()
	}
	if s.Sandbox != nil {
		_ = s.Sandbox.Close()
	}
	if s.server != nil {
		s.server.Close()
	}
	if s.failpoints != nil {
		s.failpoints.close()
	}
	if s.Proxy != nil {
		s.Proxy.close()
	}
	if s.Temporal != nil {
		s.Temporal.Close()
	}
}

func (s *Shop) unschedule() {
	if s.Temporal == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = s.Schedule(ctx).Delete(ctx) // a server of the shop's own may be gone
}

// Schedule is the schedule of the shop's reconciliation.
func (s *Shop) Schedule(ctx context.Context) client.ScheduleHandle {
	return s.Temporal.ScheduleClient().GetHandle(ctx, temporalclient.ScheduleID(s.TaskQueue))
}
