package dispatch_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/protobuf/types/known/durationpb"

	"handover/internal/dispatch"
	"handover/internal/flow"
	"handover/internal/lab/stack/testenv"
	"handover/internal/ledger"
	"handover/internal/order"
)

// bench is one order between a ledger and a Temporal without workers: what was started stays as it was started.
type bench struct {
	t *testing.T
	*dispatch.Dispatcher
	ledger   *ledger.Ledger
	temporal client.Client
	queue    string
	key      order.Key
	log      *lines
	exec     func(sql string, args ...any)
	marked   func(event string) bool
}

func TestMain(m *testing.M) { testenv.Main(m) }

// newBench gives the test an order of its own in the database that the tests share.
func newBench(t *testing.T) *bench {
	t.Helper()
	return newBenchOn(t, testenv.Shared(t), testenv.Temporal(t))
}

// ownBench gives the test a database of its own, for the loop, which looks at all orders.
func ownBench(t *testing.T, temporal client.Client) *bench {
	t.Helper()
	return newBenchOn(t, testenv.Migrated(t), temporal)
}

func newBenchOn(t *testing.T, pool *pgxpool.Pool, temporal client.Client) *bench {
	t.Helper()
	b := &bench{t: t, ledger: ledger.New(pool), temporal: temporal, queue: testenv.TaskQueue(t), key: newKey(), log: newLines()}
	b.Dispatcher = dispatch.New(temporal, b.ledger, slog.New(b.log))
	b.UseQueue(b.queue)
	b.exec = func(sql string, args ...any) {
		t.Helper()
		_, err := pool.Exec(t.Context(), sql, args...)
		b.must(err)
	}
	b.marked = func(event string) bool {
		t.Helper()
		var n int
		b.must(pool.QueryRow(t.Context(), `SELECT count(*) FROM webhook_events WHERE environment = $1 AND event_id = $2 AND dispatched_at IS NOT NULL`,
			b.key.Environment, event).Scan(&n))
		return n == 1
	}
	return b
}

// newKey is in an environment of its own, so that tests may name their events alike.
func newKey() order.Key {
	return order.Key{Environment: "test-" + strings.ToLower(rand.Text()), Session: "cs_test_1"}
}

// waits says whether a request of the order still waits to be signalled.
func (b *bench) waits(grace time.Duration) bool {
	b.t.Helper()
	waiting, err := b.ledger.Waiting(b.t.Context(), grace, 1000)
	b.must(err)
	return slices.ContainsFunc(waiting, func(r order.Request) bool { return r.Key == b.key })
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// store puts an event of the order into the ledger.
func (b *bench) store(event string) {
	b.t.Helper()
	_, err := b.ledger.StoreEvent(b.t.Context(), ledger.WebhookEvent{
		Environment: b.key.Environment, ID: event, Type: "checkout.session.completed", Kind: "checkout", Session: b.key.Session,
	})
	b.must(err)
}

// handOver has an event stored and handed over.
func (b *bench) handOver(event string, next ledger.Next) {
	b.t.Helper()
	b.store(event)
	b.must(b.Dispatch(b.t.Context(), b.key, event, next))
	b.endLater()
}

// endLater leaves no run behind on the shared server.
func (b *bench) endLater() {
	id := b.key.WorkflowID()
	b.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = b.temporal.TerminateWorkflow(ctx, id, "", "the test is over")
	})
}

func (b *bench) terminate() {
	b.t.Helper()
	b.must(b.temporal.TerminateWorkflow(b.t.Context(), b.key.WorkflowID(), "", "somebody pressed the button"))
}

// execution is a run as its history and description show it.
type execution struct {
	id, kind, queue, summary string
	status                   enumspb.WorkflowExecutionStatus
	input                    flow.Input
	attributes               map[string]string
	signals                  []signal
}

type signal struct{ Name, Payload string }

// run is the order's newest run.
func (b *bench) run() execution {
	b.t.Helper()
	described, err := b.temporal.DescribeWorkflow(b.t.Context(), b.key.WorkflowID(), "")
	b.must(err)
	description := described.RawResponse
	info := description.GetWorkflowExecutionInfo()
	run := execution{
		id: info.GetExecution().GetRunId(), kind: info.GetType().GetName(), queue: info.GetTaskQueue(), status: info.GetStatus(), attributes: map[string]string{},
	}
	_ = converter.GetDefaultDataConverter().FromPayload(description.GetExecutionConfig().GetUserMetadata().GetSummary(), &run.summary)
	for name, payload := range info.GetSearchAttributes().GetIndexedFields() {
		var value string
		b.must(converter.GetDefaultDataConverter().FromPayload(payload, &value))
		run.attributes[name] = value
	}
	history := b.temporal.GetWorkflowHistory(b.t.Context(), b.key.WorkflowID(), run.id, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		b.must(err)
		if a := event.GetWorkflowExecutionStartedEventAttributes(); a != nil {
			b.must(json.Unmarshal(a.GetInput().GetPayloads()[0].GetData(), &run.input))
		}
		if a := event.GetWorkflowExecutionSignaledEventAttributes(); a != nil {
			run.signals = append(run.signals, signal{a.GetSignalName(), string(a.GetInput().GetPayloads()[0].GetData())})
		}
	}
	return run
}

// started says whether the order has a run at all.
func (b *bench) started() bool {
	b.t.Helper()
	_, err := b.temporal.DescribeWorkflow(b.t.Context(), b.key.WorkflowID(), "")
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return false
	}
	b.must(err)
	return true
}

// newNamespace registers a namespace that has no search attributes, and connects to it.
func newNamespace(t *testing.T) client.Client {
	t.Helper()
	name := "test-" + rand.Text()
	_, err := testenv.Temporal(t).WorkflowService().RegisterNamespace(t.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace: name, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	return connect(t, testenv.TemporalAddress(t), name)
}

func unknownNamespace(err error) bool {
	var unknown *serviceerror.NamespaceNotFound
	return errors.As(err, &unknown)
}

// away is a Temporal where nobody listens.
func away(t *testing.T) client.Client {
	t.Helper()
	return connect(t, "127.0.0.1:1", client.DefaultNamespace)
}

func connect(t *testing.T, address, namespace string) client.Client {
	t.Helper()
	c, err := client.NewLazyClient(client.Options{
		HostPort: address, Namespace: namespace, Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
