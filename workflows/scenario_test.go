package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"handover/activities"
	appconfig "handover/internal/config"
	"handover/internal/flow"
	"handover/internal/order"
	"handover/workflows"
)

const day = 24 * time.Hour

var key = order.Key{Environment: "test", Session: "cs_test_a1"}

func config() workflows.Config {
	policy := workflows.Policy{
		Attempts: 3, FirstWait: time.Second, Factor: 2, LongestWait: time.Minute, GiveUpAfter: 12 * time.Hour, StartToClose: time.Minute,
	}
	return workflows.Config{
		Payment: policy, Access: policy, Email: policy, Revoke: policy, EmailQueue: "email",
	}
}

// delivered are the settings of a shop that sets nothing.
func delivered() workflows.Config {
	steps := appconfig.DefaultSteps()
	policy := func(s appconfig.Step) workflows.Policy {
		return workflows.Policy{Attempts: s.Attempts, FirstWait: s.FirstWait, Factor: s.Factor, LongestWait: s.LongestWait,
			GiveUpAfter: s.GiveUpAfter, StartToClose: s.StartToClose()}
	}
	return workflows.Config{
		Payment: policy(steps.Payment), Access: policy(steps.Access), Email: policy(steps.Email), Revoke: policy(steps.Revoke), EmailQueue: "email",
	}
}

// scenario is one order's workflow on a clock that skips.
type scenario struct {
	*testsuite.TestWorkflowEnvironment
	t     testing.TB
	cfg   workflows.Config
	world *world
	trace *trace
	input flow.Input
	limit time.Duration // after which a workflow that still listens is left
	began time.Time
}

func newScenario(t testing.TB) *scenario { return newScenarioIn(t, newWorld()) }

func newScenarioIn(t testing.TB, w *world) *scenario {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	s := &scenario{
		TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(),
		t:                       t, cfg: config(), world: w, trace: &trace{}, limit: 400 * day,
		input: flow.Input{Key: key, Event: "evt_1", Attributes: true},
	}
	s.SetTestTimeout(time.Minute)
	s.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{s.trace},
		DeadlockDetectionTimeout: time.Minute}) // of a busy machine, not of the workflow
	s.RegisterActivity(s.world)
	return s
}

// run plays the order until it closes or the limit is reached.
func (s *scenario) run() {
	s.began = s.Now()
	s.SetWorkflowRunTimeout(s.limit)
	flows := workflows.New(s.cfg)
	s.RegisterWorkflowWithOptions(flows.Deliver, workflow.RegisterOptions{Name: flow.DeliverName})
	s.ExecuteWorkflow(flow.DeliverName, s.input)
}

// at does something at a time after the start.
func (s *scenario) at(after time.Duration, f func()) { s.RegisterDelayedCallback(f, after) }

// resend signals a payload as an operator would type it.
func (s *scenario) resend(payload string) { s.SignalWorkflow(flow.KindResend, raw(payload)) }

func raw(payload string) converter.RawValue {
	return converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(payload),
	})
}

// answer is what an update's caller gets.
type answer struct {
	rejected error
	accepted bool
	result   flow.Answer
	err      error
}

func (s *scenario) update(id, payload string) *answer {
	got := &answer{}
	s.UpdateWorkflow(flow.KindResend, id, &testsuite.TestUpdateCallback{
		OnReject: func(err error) { got.rejected = err },
		OnAccept: func() { got.accepted = true },
		OnComplete: func(result any, err error) {
			got.result, _ = result.(flow.Answer)
			got.err = err
		},
	}, raw(payload))
	return got
}

// open says that the workflow was still listening at the limit.
func (s *scenario) open() bool {
	s.t.Helper()
	err := s.GetWorkflowError()
	var timeout *temporal.TimeoutError
	if err != nil && !errors.As(err, &timeout) {
		s.t.Fatalf("the workflow failed: %v", err)
	}
	return err != nil
}

func (s *scenario) state() flow.State {
	s.t.Helper()
	encoded, err := s.QueryWorkflow(flow.QueryState)
	if err != nil {
		s.t.Fatal(err)
	}
	var state flow.State
	if err := encoded.Get(&state); err != nil {
		s.t.Fatal(err)
	}
	return state
}

// details are what the Temporal UI shows as the workflow's current details.
func (s *scenario) details() string {
	s.t.Helper()
	encoded, err := s.QueryWorkflow("__temporal_workflow_metadata")
	if err != nil {
		s.t.Fatal(err)
	}
	var metadata sdkpb.WorkflowMetadata
	if err := encoded.Get(&metadata); err != nil {
		s.t.Fatal(err)
	}
	return metadata.GetCurrentDetails()
}

// trace writes down what a workflow orders, in sequence: activities, timers and search attributes.
type trace struct {
	interceptor.WorkerInterceptorBase
	mu     sync.Mutex
	lines  []string
	alerts []order.Reason
}

func (r *trace) alert(reason order.Reason) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.alerts = append(r.alerts, reason)
}

func (r *trace) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *trace) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// InterceptWorkflow implements interceptor.WorkerInterceptor.
func (r *trace) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &traceInbound{WorkflowInboundInterceptorBase: interceptor.WorkflowInboundInterceptorBase{Next: next}, trace: r}
}

type traceInbound struct {
	interceptor.WorkflowInboundInterceptorBase
	trace *trace
}

func (i *traceInbound) Init(next interceptor.WorkflowOutboundInterceptor) error {
	return i.Next.Init(&traceOutbound{WorkflowOutboundInterceptorBase: interceptor.WorkflowOutboundInterceptorBase{Next: next}, trace: i.trace})
}

type traceOutbound struct {
	interceptor.WorkflowOutboundInterceptorBase
	trace *trace
}

// GetInfo fills in what the test environment leaves out.
func (o *traceOutbound) GetInfo(ctx workflow.Context) *workflow.Info {
	info := *o.Next.GetInfo(ctx)
	info.OriginalRunID = "first-run"
	return &info
}

func (o *traceOutbound) ExecuteActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	switch in := args[0].(type) {
	case activities.AlertOwnerInput: // TestTheOwnerIsToldOfEveryReason looks at these; elsewhere they are a matter of course
		o.trace.alert(in.Reason)
	case activities.SendAccessEmailInput:
		o.trace.add("%s %d", name, in.Generation)
	case activities.StopStepInput:
		o.trace.add("%s %s %s", name, in.Step, in.Class)
	case activities.DecideRequestInput:
		o.trace.add("%s %s", name, in.RequestID)
	default:
		o.trace.add("%s", name)
	}
	return o.Next.ExecuteActivity(ctx, name, args...)
}

func (o *traceOutbound) NewTimerWithOptions(ctx workflow.Context, d time.Duration, options workflow.TimerOptions) workflow.Future {
	o.trace.add("timer %s", d)
	return o.Next.NewTimerWithOptions(ctx, d, options)
}

func (o *traceOutbound) UpsertTypedSearchAttributes(ctx workflow.Context, updates ...temporal.SearchAttributeUpdate) error {
	o.attribute(updates)
	return o.Next.UpsertTypedSearchAttributes(ctx, updates...)
}

func (o *traceOutbound) UpsertTypedSearchAttributesWithOptions(ctx workflow.Context, updates []temporal.SearchAttributeUpdate, options workflow.UpsertSearchAttributesOptions) error {
	o.attribute(updates)
	return o.Next.UpsertTypedSearchAttributesWithOptions(ctx, updates, options)
}

func (o *traceOutbound) attribute(updates []temporal.SearchAttributeUpdate) {
	value, _ := temporal.NewSearchAttributes(updates...).GetKeyword(flow.AttributeState)
	o.trace.add("state %s", value)
}

// listen tells the name and the input of every activity that starts.
func listen(tell func(name, input string)) func(*activity.Info, context.Context, converter.EncodedValues) {
	return func(info *activity.Info, _ context.Context, args converter.EncodedValues) {
		var in json.RawMessage
		_ = args.Get(&in)
		tell(info.ActivityType.Name, string(in))
	}
}

func onCancel(tell func(name string)) func(*activity.Info) {
	return func(info *activity.Info) { tell(info.ActivityType.Name) }
}

// needsAttention is how the details tell a reason and its remedy: the command in a block, where it can be copied, and with
// the order's own key.
func needsAttention(words string, reason order.Reason) string {
	text, command, _ := strings.Cut(reason.Remedy("test/cs_test_a1"), ": starter ")
	return "**Needs attention**: " + words + ". " + text + ":\n\n```\nstarter " + command + "\n```\n"
}
