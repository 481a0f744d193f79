package workflows_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

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
	"handover/workflows"
)

// Who buys in the recordings. None of it may be found in them.
const (
	buyer       = "zephyrine.quill@example.com"
	buyerName   = "Zephyrine Quill"
	secondBuyer = "ottoline@example.org"
	stripeKey   = "sk_test_recording"
	resendKey   = "re_recording"
	linkSecret  = "a secret of the recordings' links"
)

// recorder records histories on the real servers, with the real activities and stand-ins of the providers.
type recorder struct {
	t       *testing.T
	client  client.Client
	ledger  *ledger.Ledger
	sandbox *sandbox.Sandbox
	address string // of the sandbox
	queue   string // listens for thirty days
	brief   string // closes right after the delivery
	barren  string // can give no access
	hasty   string // gives up what others wait for
	patient steering
}

// nothing is access that cannot be made.
type nothing struct{}

func (nothing) Kind() order.AccessKind                           { return "download" }
func (nothing) Issue(order.Entitlement) ([]access.Issued, error) { return nil, access.ErrNever }

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	s, err := sandbox.New(sandbox.Config{Products: []sandbox.Product{
		{Price: "price_guide", Product: "prod_guide", Name: "The Guide", Amount: 1200, Currency: "eur"},
		{Price: "price_other", Product: "prod_other", Name: "Not ours", Amount: 100, Currency: "eur"},
	}})
	must(t, err)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(func() { _ = s.Close() })
	// The default identity holds the name of the machine.
	c, err := client.DialContext(t.Context(), client.Options{
		HostPort: testenv.TemporalAddress(t), Identity: "starter", Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	must(t, err)
	t.Cleanup(c.Close)
	r := &recorder{
		t: t, client: c, ledger: ledger.New(testenv.Migrated(t)), sandbox: s, address: server.URL,
		queue: testenv.TaskQueue(t), brief: testenv.TaskQueue(t), barren: testenv.TaskQueue(t), hasty: testenv.TaskQueue(t),
	}
	patient := newWorld().steer
	brief, hasty := patient, steering{openFor: patient.openFor, awaitPayment: time.Second, giveUp: time.Minute}
	brief.openFor = time.Second
	r.work(r.queue, patient, accessregistry.Kinds().Local())
	r.work(r.brief, brief, accessregistry.Kinds().Local())
	r.work(r.barren, patient, []access.Local{nothing{}})
	r.work(r.hasty, hasty, accessregistry.Kinds().Local())
	r.patient = patient
	return r
}

// work starts a worker on a queue.
func (r *recorder) work(queue string, steer steering, own []access.Local) {
	r.t.Helper()
	r.t.Cleanup(r.workOn(r.ledger, queue, steer, own))
}

// workOn starts a worker with a ledger of its own, and returns what stops it.
func (r *recorder) workOn(facts *ledger.Ledger, queue string, steer steering, own []access.Local) (stop func()) {
	r.t.Helper()
	provider, err := stripe.New(stripe.Config{APIKey: stripeKey, WebhookSecrets: []string{"whsec_recording"}, Mode: order.Test, APIURL: r.address})
	must(r.t, err)
	sender, err := resend.New(resend.Config{APIKey: resendKey, APIURL: r.address + "/resend"})
	must(r.t, err)
	links, err := link.New("https://shop.example", []string{linkSecret})
	must(r.t, err)
	steps := activities.New(activities.Deps{Owner: notify.New(notify.Config{}),
		Ledger: facts, Environments: map[string]activities.Environment{"test": {Mode: order.Test, Provider: provider}},
		Catalogue: order.NewCatalogue([]order.Product{{ID: "guide", Name: "The Guide", SoldAs: []string{"price_guide"},
			Access: []order.AccessSpec{{Kind: "download", File: "guide.pdf"}, {Kind: "license"}}}}),
		Kinds: own, Sender: sender, Links: links, Outcomes: uncounted{}, Log: slog.New(slog.DiscardHandler),
	}, activities.Config{
		From: "Shop <orders@shop.example>", EmailLease: time.Minute, EmailWindow: 23 * time.Hour, EmailAttempts: 8,
		PaymentWait: noWait, EmailWait: noWait,
		OpenFor: steer.openFor, AwaitPaymentFor: steer.awaitPayment, PaymentGiveUp: steer.giveUp, EmailGiveUp: steer.giveUp,
	})
	cfg := config()
	cfg.EmailQueue = queue
	w := worker.New(r.client, queue, worker.Options{Identity: "worker"})
	w.RegisterWorkflowWithOptions(workflows.New(cfg).Deliver, workflow.RegisterOptions{Name: flow.DeliverName})
	w.RegisterActivity(steps)
	must(r.t, w.Start())
	return w.Stop
}

type uncounted struct{}

func (uncounted) StepEnded(string, order.Class) {}

// recording is one order on its way into a file.
type recording struct {
	*recorder
	key   order.Key
	queue string
}

// order adds a session at the provider.
func (r *recorder) order(queue string, change func(*sandbox.Session)) *recording {
	r.t.Helper()
	session := sandbox.Session{ID: "cs_test_" + rand.Text(), Email: buyer, Name: buyerName, Items: []sandbox.Item{{Price: "price_guide"}}}
	if change != nil {
		change(&session)
	}
	made, err := r.sandbox.CreateSession(session)
	must(r.t, err)
	return &recording{recorder: r, key: order.Key{Environment: "test", Session: made.ID}, queue: queue}
}

func (r *recording) options() client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: r.key.WorkflowID(), TaskQueue: r.queue, StaticSummary: r.input().Summary(),
		TypedSearchAttributes: temporal.NewSearchAttributes(
			flow.AttributeEnvironment.ValueSet("test"), flow.AttributeState.ValueSet(flow.StateAutomatic)),
	}
}

func (r *recording) input() flow.Input {
	return flow.Input{Key: r.key, Attributes: true}
}

func (r *recording) start() *recording {
	r.t.Helper()
	in := r.input()
	in.Event = "evt_recorded"
	_, err := r.client.ExecuteWorkflow(r.t.Context(), r.options(), flow.DeliverName, in)
	must(r.t, err)
	return r
}

// resume signals, in a new run where the order's has closed.
func (r *recording) resume(signal string, payload any) *recording {
	r.t.Helper()
	in := r.input()
	in.Known = true
	_, err := r.client.SignalWithStartWorkflow(r.t.Context(), r.key.WorkflowID(), signal, payload, r.options(), flow.DeliverName, in)
	must(r.t, err)
	return r
}

func (r *recording) signal(signal string, payload any) *recording {
	r.t.Helper()
	must(r.t, r.client.SignalWorkflow(r.t.Context(), r.key.WorkflowID(), "", signal, payload))
	return r
}

func (r *recording) update(id string) *recording {
	r.t.Helper()
	handle, err := r.client.UpdateWorkflow(r.t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: r.key.WorkflowID(), UpdateID: id, UpdateName: flow.KindResend, WaitForStage: client.WorkflowUpdateStageCompleted,
		Args: []any{flow.Request{Reason: "by update"}},
	})
	must(r.t, err)
	must(r.t, handle.Get(r.t.Context(), nil))
	return r
}

// until waits for the newest run's history to hold n events of the type.
func (r *recording) until(event enumspb.EventType, n int) *recording {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		found := 0
		for _, e := range r.history(ctx).GetEvents() {
			if e.GetEventType() == event {
				found++
			}
		}
		if found >= n {
			return r
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			r.t.Fatalf("%d events %s have come, want %d", found, event, n)
		}
	}
}

func (r *recording) history(ctx context.Context) *historypb.History {
	r.t.Helper()
	var history historypb.History
	events := r.client.GetWorkflowHistory(ctx, r.key.WorkflowID(), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		must(r.t, err)
		history.Events = append(history.Events, event)
	}
	return &history
}

// closed waits for the newest run to end.
func (r *recording) closed() *recording {
	r.t.Helper()
	must(r.t, r.client.GetWorkflow(r.t.Context(), r.key.WorkflowID(), "").Get(r.t.Context(), nil))
	return r
}

// save writes the newest run's history, one event a line, and ends the run. A history that is there already is what an
// earlier version did, and stays.
func (r *recording) save(name string) {
	r.t.Helper()
	defer func() { _ = r.client.TerminateWorkflow(r.t.Context(), r.key.WorkflowID(), "", "recorded") }()
	file := filepath.Join("testdata", name+".json")
	if _, err := os.Stat(file); err == nil {
		return
	}
	var text bytes.Buffer
	text.WriteString(`{"events":[`)
	for i, event := range r.history(r.t.Context()).GetEvents() {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteByte('\n')
		line, err := temporalproto.CustomJSONMarshalOptions{}.Marshal(event)
		must(r.t, err)
		must(r.t, json.Compact(&text, line))
	}
	text.WriteString("\n]}\n")
	host, err := os.Hostname()
	must(r.t, err)
	// Queues that are bound to one worker are named after its machine.
	anonymous := strings.NewReplacer(`"`+host+`:`, `"host:`, r.queue, "handover", r.recorder.queue, "handover", r.brief, "handover", r.barren, "handover", r.hasty, "handover").Replace(text.String())
	must(r.t, os.WriteFile(file, []byte(anonymous), 0o644))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// recordHistories plays everything that the replay test has to know.
func recordHistories(t *testing.T) {
	r := newRecorder(t)
	unpaid := func(s *sandbox.Session) { s.PaymentStatus = "unpaid" }
	asked := map[string]string{"reason": "the buyer asked"}
	const accepted, timer, attribute = enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, enumspb.EVENT_TYPE_TIMER_STARTED,
		enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES

	r.order(r.brief, nil).start().closed().save("delivered_and_closed")
	r.order(r.queue, nil).start().until(timer, 1).save("open_after_delivery")
	r.order(r.queue, unpaid).start().until(timer, 1).save("payment_pending")
	r.order(r.queue, func(s *sandbox.Session) { s.Items = []sandbox.Item{{Price: "price_other"}} }).start().closed().save("not_ours")
	r.order(r.queue, func(s *sandbox.Session) { s.Items = append(s.Items, sandbox.Item{Price: "price_other"}) }).start().until(attribute, 1).save("items_unknown")

	paid := r.order(r.queue, unpaid).start().until(timer, 1)
	_, err := r.sandbox.PaySession(paid.key.Session)
	must(t, err)
	paid.signal(flow.SignalPaymentEvent, map[string]string{"event": "evt_later"}).until(timer, 2).save("payment_pending_then_paid")

	refused := r.order(r.queue, nil)
	r.fault(sandbox.Fault{Target: "resend.send", Mode: "refuse", Status: 422, Name: "validation_error", Match: refused.key.EmailKey(1)})
	refused.start().until(attribute, 1).save("email_refused")

	unknown := r.order(r.queue, nil)
	r.fault(sandbox.Fault{Target: "resend.send", Mode: "refuse", Status: 409, Name: "invalid_idempotent_request", Match: unknown.key.EmailKey(1)})
	unknown.start().until(attribute, 1).save("email_outcome_unknown")

	missing := r.order(r.queue, nil)
	r.fault(sandbox.Fault{Target: "stripe.session", Mode: "refuse", Status: 404, Name: "resource_missing", Match: missing.key.Session})
	missing.start().until(attribute, 1).save("payment_not_retrievable")
	r.order(r.barren, nil).start().until(attribute, 1).save("access_not_granted")

	mended := r.order(r.queue, nil)
	r.fault(sandbox.Fault{Target: "resend.send", Mode: "refuse", Status: 422, Name: "validation_error", Match: mended.key.EmailKey(1)})
	mended.start().until(attribute, 1).signal(flow.KindResend, asked).until(attribute, 2).until(timer, 1).save("email_refused_then_resent")

	resent := r.order(r.queue, nil).start().until(timer, 1).signal(flow.KindResend, "please").until(accepted, 4)
	resent.signal(flow.KindResend, asked).until(accepted, 6).update("upd_1").until(accepted, 8).save("resent_by_signal_and_update")

	again := r.order(r.queue, nil)
	r.fault(sandbox.Fault{Target: "resend.send", Mode: "rate_limit", RetryAfter: 3600, Match: again.key.EmailKey(2)})
	again.start().until(timer, 1).signal(flow.KindResend, asked).until(timer, 2).save("resend_under_way")

	limited := r.order(r.queue, nil)
	r.fault(sandbox.Fault{Target: "resend.send", Mode: "rate_limit", RetryAfter: 3600, Match: limited.key.EmailKey(1)})
	limited.start().until(timer, 1)
	must(t, r.ledger.StoreRequest(t.Context(), order.Request{
		Key: limited.key, ID: "req_1", Kind: flow.KindResend, Who: "operator", Why: "mistyped", Address: secondBuyer}))
	limited.signal(flow.KindResend, map[string]string{"reason": "mistyped", "request_id": "req_1"}).until(timer, 2).save("email_superseded")

	r.order(r.brief, nil).start().closed().resume(flow.KindResend, asked).closed().save("resumed_for_a_resend")
	failed := r.order(r.queue, unpaid)
	_, err = r.sandbox.FailSession(failed.key.Session)
	must(t, err)
	failed.start().closed()
	_, err = r.sandbox.PaySession(failed.key.Session)
	must(t, err)
	failed.resume(flow.SignalPaymentEvent, nil).until(timer, 1).save("resumed_for_an_event")
	recordReversals(r)
	recordWaits(r)
	recordOutages(r)
}

// recordWaits plays the waits whose end the shop's settings decide, and what comes when they are over.
func recordWaits(r *recorder) {
	const timer, attribute = enumspb.EVENT_TYPE_TIMER_STARTED, enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES
	told := map[string]string{"event": "evt_money", "about": flow.AboutReversal}

	r.order(r.hasty, func(s *sandbox.Session) { s.PaymentStatus = "unpaid" }).start().until(attribute, 1).save("payment_overdue")

	limited := r.order(r.hasty, nil)
	r.fault(sandbox.Fault{Target: "resend.send", Mode: "rate_limit", RetryAfter: 3600, Match: limited.key.EmailKey(1)})
	limited.start().until(attribute, 1).save("email_waited_too_long")

	waiting, tooLong := r.order(r.queue, nil).start().until(timer, 1), r.order(r.hasty, nil).start().until(timer, 1)
	r.fault(sandbox.Fault{Target: "stripe.payment_intent", Mode: "rate_limit", RetryAfter: 3600})
	waiting.signal(flow.SignalPaymentEvent, told).until(timer, 2).save("refund_waits_for_the_provider")
	tooLong.signal(flow.SignalPaymentEvent, told).until(attribute, 1).save("refund_waited_too_long")
}

// recordOutages plays our own database away in the middle of an order, a limit that lasts, and a run that continues another.
func recordOutages(r *recorder) {
	const done, timer = enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, enumspb.EVENT_TYPE_TIMER_STARTED
	pool, err := ledger.Connect(r.t.Context(), "postgres://nobody@127.0.0.1:1/none?sslmode=disable")
	must(r.t, err)
	defer pool.Close()
	queue := testenv.TaskQueue(r.t)
	stop := r.workOn(ledger.New(pool), queue, r.patient, accessregistry.Kinds().Local())
	away := r.order(queue, nil).start().until(enumspb.EVENT_TYPE_TIMER_FIRED, 1)
	stop()
	r.work(queue, r.patient, accessregistry.Kinds().Local())
	away.until(timer, 2).save("ledger_outage")

	limited := r.order(r.queue, nil)
	r.fault(sandbox.Fault{Target: "resend.send", Mode: "rate_limit", RetryAfter: 1, Times: 2, Match: limited.key.EmailKey(1)})
	limited.start().until(timer, 3).save("email_rate_limited")

	next := r.order(r.queue, nil)
	in := next.input()
	in.Known, in.Continued = true, &flow.Continued{Origin: "0e5e6b3c-3e6f-4d5b-9a51-7f2b9f5d1a10", Signals: 7, Event: true}
	_, err = r.client.ExecuteWorkflow(r.t.Context(), next.options(), flow.DeliverName, in)
	must(r.t, err)
	next.until(timer, 1).signal(flow.KindResend, "please").until(done, 5).save("continued_as_new")
}

func (r *recorder) fault(f sandbox.Fault) {
	r.t.Helper()
	_, err := r.sandbox.AddFault(f)
	must(r.t, err)
}

func noWait(int) time.Duration { return 0 }
