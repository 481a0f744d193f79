package activities_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"handover/activities"
	"handover/internal/email/resend"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// lost has the access granted, at an address of its own, and one attempt at the email made whose answer was lost.
func (b *bench) lost() *bench {
	b.t.Helper()
	b.granted()
	b.exec(`UPDATE orders SET address = $2 WHERE session = $1`, b.key.Session, b.key.Session+"@shop.example")
	b.fault(sandbox.Fault{Target: "resend.send", Mode: "drop", Times: 1})
	_, err := b.send(1)
	b.wants(err, order.ClassUnknown)
	return b
}

// The ways in which the automatic work on an email ends without anybody knowing whether it arrived.
var ends = map[string]func(*bench){
	"past the window": func(b *bench) {
		b.exec(`UPDATE obligations SET first_attempt_at = first_attempt_at - interval '23 hours' WHERE session = $1 AND kind = 'email'`, b.key.Session)
	},
	"the key was used with other bytes": func(b *bench) { b.fault(quoting(409, "invalid_idempotent_request")) },
	"the attempts are spent": func(b *bench) {
		b.exec(`UPDATE obligations SET attempts = 1000 WHERE session = $1 AND kind = 'email'`, b.key.Session)
	},
}

func (b *bench) stop(class order.Class) (outcome, error) {
	b.t.Helper()
	return attemptAt(b.t, b.worker().StopStep,
		activities.StopStepInput{Key: b.key, Step: "email", Generation: 1, Class: class})
}

// acceptedByList checks that the message which the provider took is the order's.
func (b *bench) acceptedByList() {
	b.t.Helper()
	v := b.view()
	if v.Facts.Email != order.EmailAccepted || v.Reason != "" {
		b.t.Errorf("email %s, reason %q", v.Facts.Email, v.Reason)
	}
	var id string
	b.must(b.pool.QueryRow(b.t.Context(), `SELECT provider_id FROM obligations WHERE session = $1 AND kind = 'email'`, b.key.Session).Scan(&id))
	if want := b.messages()[0].ID; id != want {
		b.t.Errorf("the provider's id is %s, want %s", id, want)
	}
	if n := len(b.messages()); n != 1 {
		b.t.Errorf("%d messages, want one", n)
	}
}

func TestTheListOfSentMailProvesThatALostCallArrived(t *testing.T) {
	t.Parallel()
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).lost()
			end(b)
			if sent, err := b.send(1); err != nil || sent != (outcome{Email: order.EmailAccepted}) {
				t.Fatalf("sent %+v, %v", sent, err)
			}
			b.acceptedByList()
		})
	}
	t.Run("the workflow's attempts are spent", func(t *testing.T) {
		t.Parallel()
		b := newBench(t).lost()
		if stopped, err := b.stop(order.ClassUnknown); err != nil || stopped.Email != order.EmailAccepted || stopped.Reason != "" {
			t.Fatalf("stopped %+v, %v", stopped, err)
		}
		b.acceptedByList()
	})
}

func TestWhatTheListCannotProveNeedsAPerson(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*bench)
		log    string
	}{
		"a second message that can be it": {func(b *bench) { b.repeat() }, `"candidates":2`},
		"it was taken before the first attempt": {func(b *bench) {
			b.exec(`UPDATE obligations SET first_attempt_at = now() + interval '5 minutes', last_attempt_at = now() + interval '5 minutes'
			        WHERE session = $1 AND kind = 'email'`, b.key.Session)
		}, ""},
		"it was taken long after the last attempt": {func(b *bench) {
			b.exec(`UPDATE obligations SET first_attempt_at = now() - interval '9 hours', last_attempt_at = now() - interval '8 hours'
			        WHERE session = $1 AND kind = 'email'`, b.key.Session)
		}, ""},
		"a key that may only send": {func(b *bench) {
			b.fault(sandbox.Fault{Target: "resend.list", Mode: "refuse", Status: 401, Name: "restricted_api_key"})
		}, "needs a key with full access"},
		"a provider without a list": {func(b *bench) {
			b.fault(sandbox.Fault{Target: "resend.list", Mode: "refuse", Status: 404, Name: "not_found"})
		}, "cannot be searched"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).lost()
			c.change(b)
			ends["the attempts are spent"](b)
			_, err := b.send(1)
			b.wants(err, order.ClassExhausted)
			if v := b.view(); v.Facts.Email == order.EmailAccepted || v.Reason != order.ReasonEmailExhausted {
				t.Errorf("email %s, reason %q", v.Facts.Email, v.Reason)
			}
			if !strings.Contains(b.logs.String(), c.log) {
				t.Errorf("the log does not say %q:\n%s", c.log, b.logs)
			}
			if strings.Contains(b.logs.String(), string(order.ClassMisconfigured)) {
				t.Error("a look that is refused is taken for a fault in the settings")
			}
		})
	}
}

// repeat has the same message sent again by somebody else, under another key.
func (b *bench) repeat() {
	b.t.Helper()
	m := b.messages()[0]
	sender, err := resend.New(resend.Config{APIKey: resendKey, APIURL: b.address + "/resend"})
	b.must(err)
	_, err = sender.Send(b.t.Context(), "another/key", order.Message{From: m.From, To: m.To[0], Subject: m.Subject, Text: "Hello"})
	b.must(err)
}

func TestARefusedMessageIsNotLookedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t).lost()
	looks := b.fault(sandbox.Fault{Target: "resend.list", Mode: "late"})
	b.fault(quoting(422, "validation_error"))
	_, err := b.send(1)
	b.wants(err, order.ClassPermanent)
	for _, f := range b.sandbox.Faults() {
		if f.ID == looks.ID && f.Fired != 0 {
			t.Error("the list was asked for")
		}
	}
}

// While the list does not answer, nothing is concluded: the attempt leaves the order as it is, and the step that would
// mark it tries again, so often and no more.
func TestALookThatFailsIsRepeatedBeforeTheOrderIsMarked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		times    int
		accepted bool
	}{"and then the list answers": {3, true}, "and it never answers": {0, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).lost()
			b.fault(sandbox.Fault{Target: "resend.list", Mode: "refuse", Status: 503, Times: c.times})
			ends["the key was used with other bytes"](b)
			_, err := b.send(1)
			b.wants(err, order.ClassUncertain)
			if v := b.view(); v.Facts.Email != order.EmailPending || v.Reason != "" {
				t.Errorf("after the first look: email %s, reason %q", v.Facts.Email, v.Reason)
			}
			stopped, attempts := b.stopWithRetries(order.ClassUncertain)
			if (stopped.Snapshot.Email == order.EmailAccepted) != c.accepted {
				t.Errorf("accepted %v after %d attempts", (stopped.Snapshot.Email == order.EmailAccepted), attempts)
			}
			if c.accepted {
				b.acceptedByList()
				return
			}
			if v := b.view(); v.Facts.Email != order.EmailUncertain || v.Reason != order.ReasonEmailUncertain || attempts != 5 {
				t.Errorf("email %s, reason %q after %d attempts; want uncertain after 5", v.Facts.Email, v.Reason, attempts)
			}
		})
	}
}

// stopWithRetries runs the step under a policy like the workflow's, and says how many attempts it took.
func (b *bench) stopWithRetries(class order.Class) (stopped activities.StopStepResult, attempts int) {
	b.t.Helper()
	worker := b.worker()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterActivity(worker)
	env.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) { attempts++ })
	env.ExecuteWorkflow(func(ctx workflow.Context) (out activities.StopStepResult, err error) {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 15 * time.Second,
			RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumAttempts: 20}})
		in := activities.StopStepInput{Key: b.key, Step: "email", Generation: 1, Class: class}
		return out, workflow.ExecuteActivity(ctx, worker.StopStep, in).Get(ctx, &out)
	})
	b.must(env.GetWorkflowError())
	b.must(env.GetWorkflowResult(&stopped))
	return stopped, attempts
}
