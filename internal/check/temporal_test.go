package check_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"handover/internal/check"
	"handover/internal/lab/stack/testenv"
	"handover/internal/payment"
)

// in is a shop whose Temporal is the shared server's, in a namespace.
func in(t *testing.T, namespace string) check.Shop {
	t.Helper()
	s := shop(t, map[string]payment.Provider{"test": account{}}, nil)
	s.TaskQueue = testenv.TaskQueue(t)
	address := testenv.TemporalAddress(t)
	s.OpenTemporal = func() (client.Client, string, error) {
		c, err := client.NewLazyClient(client.Options{HostPort: address, Namespace: namespace})
		return c, namespace, err
	}
	return s
}

func TestAShortRetentionIsToldAndNoFailure(t *testing.T) {
	t.Parallel()
	c := testenv.Temporal(t)
	for retention, want := range map[time.Duration]string{24 * time.Hour: "warning: after 24 h", 72 * time.Hour: "ok: for 3 days"} {
		namespace := "check-" + strings.ToLower(rand.Text())
		_, err := c.WorkflowService().RegisterNamespace(t.Context(), &workflowservice.RegisterNamespaceRequest{
			Namespace: namespace, WorkflowExecutionRetentionPeriod: durationpb.New(retention),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := named(t, in(t, namespace), "retention"); !agree(got, []string{want}) {
			t.Errorf("%s: %q, want %q", retention, got, want)
		}
		if _, err := c.OperatorService().DeleteNamespace(t.Context(), &operatorservice.DeleteNamespaceRequest{Namespace: namespace}); err != nil {
			t.Error(err)
		}
	}
}

func TestANamespaceThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	want := []string{"failure: no such namespace"}
	if got := named(t, in(t, "nobody-made-it"), "temporal"); !agree(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAQueueThatNobodyPollsAndAMissingScheduleAreFailures(t *testing.T) {
	t.Parallel()
	s := in(t, client.DefaultNamespace)
	for name, want := range map[string]string{
		"temporal": "ok: answers", "worker": "failure: " + s.TaskQueue, "worker for emails": "failure: " + s.TaskQueue + "-email",
		"schedule": "failure: " + s.TaskQueue + "-reconcile", "search attributes": "ok: HandoverState",
	} {
		if got := named(t, s, name); !agree(got, []string{want}) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
