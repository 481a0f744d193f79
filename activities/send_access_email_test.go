package activities_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/activities"
	"handover/internal/flow"
	"handover/internal/lab/sandbox"
	"handover/internal/link"
	"handover/internal/order"
)

// quoting is an answer that repeats what it was sent, as providers' errors do.
func quoting(status int, name string) sandbox.Fault {
	return sandbox.Fault{
		Target: "resend.send", Mode: "refuse", Status: status, Times: 1,
		Body: fmt.Sprintf(`{"statusCode":%d,"name":%q,"message":"%s <%s> was refused, key %s, see https://shop.example/d/x"}`, status, name, buyerName, buyer, resendKey),
	}
}

func TestAcceptedEmailHoldsTheLinkAndIsNotSentAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t).granted()
	for range 2 {
		if sent, err := b.send(1); err != nil || sent != (outcome{Email: order.EmailAccepted}) {
			t.Fatalf("sent %+v, %v", sent, err)
		}
	}
	if got := b.calls(1); got.Calls != 1 || got.Accepted != 1 {
		t.Errorf("%d calls, %d messages; want one of each", got.Calls, got.Accepted)
	}
	message := b.messages()[0]
	wantTags := map[string]string{"handover_environment": "test", "handover_session": b.key.Session, "handover_generation": "1"}
	if diff := cmp.Diff(wantTags, message.Tags); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	made, err := b.links().Token(b.links().Newest(), b.key, 1)
	b.must(err)
	if !slices.Equal(message.To, []string{buyer}) || !strings.Contains(message.Text, link.URL(b.links().Base(), made)) || !strings.Contains(message.HTML, link.URL(b.links().Base(), made)) {
		t.Errorf("to %v, text:\n%s", message.To, message.Text)
	}
	view := b.view()
	for _, grant := range view.Grants {
		if grant.Secret != "" && !strings.Contains(message.Text, grant.Secret) {
			t.Error("a licence key is missing in the message")
		}
	}
	if view.Facts.Email != order.EmailAccepted || view.Emails[0].Attempts != 1 {
		t.Errorf("the ledger says %s after %d attempts", view.Facts.Email, view.Emails[0].Attempts)
	}
	opened, err := b.ledger.OrderByLink(t.Context(), link.Hash(made))
	if err != nil || opened.Key != b.key {
		t.Errorf("the link opens %v, %v", opened.Key, err)
	}
}

func TestFinalRefusalStopsTheEmailAndLeavesAccess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		name   string
		class  order.Class
		reason order.Reason
		state  order.EmailState
	}{
		{422, "validation_error", order.ClassPermanent, order.ReasonEmailRefused, order.EmailAttention},
		{400, "invalid_parameter", order.ClassPermanent, order.ReasonEmailRefused, order.EmailAttention},
		{451, "security_error", order.ClassMisconfigured, order.ReasonEmailConfig, order.EmailAttention},
		{401, "missing_api_key", order.ClassMisconfigured, order.ReasonEmailConfig, order.EmailAttention},
		{403, "validation_error", order.ClassMisconfigured, order.ReasonEmailConfig, order.EmailAttention},
		{409, "invalid_idempotent_request", order.ClassUncertain, order.ReasonEmailUncertain, order.EmailUncertain},
	} {
		t.Run(fmt.Sprint(c.status, c.name), func(t *testing.T) {
			t.Parallel()
			b := newBench(t).granted()
			b.fault(quoting(c.status, c.name))
			for range 2 { // the second is what follows when the first died before it could answer
				_, err := b.send(1)
				b.wants(err, c.class)
			}
			if got := b.calls(1); got.Calls != 1 {
				t.Errorf("%d calls, want one", got.Calls)
			}
			v := b.view()
			if v.Facts.Email != c.state || v.Reason != c.reason || v.Class != c.class || v.Facts.Access != order.AccessGranted {
				t.Errorf("email %s, reason %s, class %s, access %s", v.Facts.Email, v.Reason, v.Class, v.Facts.Access)
			}
			if b.counted.last() != "email "+string(c.class) {
				t.Errorf("counted %q", b.counted.last())
			}
		})
	}
}

func TestPassingFaultIsRepeatedWithTheSameBytesUnderTheSameKey(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]sandbox.Fault{
		"500":                  quoting(500, "application_error"),
		"503":                  quoting(503, "service_unavailable"),
		"409 in flight":        quoting(409, "concurrent_idempotent_requests"),
		"409 locked":           quoting(409, "resource_locked"),
		"success without a id": {Target: "resend.send", Mode: "refuse", Status: 200, Body: `{}`, Times: 1},
		"success cut off":      {Target: "resend.send", Mode: "refuse", Status: 200, Body: `{"id":"`, Times: 1},
		"no answer":            {Target: "resend.send", Mode: "hang", Times: 1},
		"done, answer dropped": {Target: "resend.send", Mode: "drop", Times: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).granted()
			b.fault(f)
			if f.Mode == "hang" {
				b.callTimeout = 300 * time.Millisecond
			}
			_, err := b.send(1)
			b.wants(err, order.ClassUnknown)
			if v := b.view(); v.Facts.Email != order.EmailPending || v.Reason != "" || v.Emails[0].Class != order.ClassUnknown {
				t.Errorf("email %s, reason %q, last failure %s", v.Facts.Email, v.Reason, v.Emails[0].Class)
			}
			b.callTimeout = 10 * time.Second
			if sent, err := b.send(1); err != nil || sent.Email != order.EmailAccepted {
				t.Fatalf("the next attempt: %+v, %v", sent, err)
			}
			if got := b.calls(1); got.Calls != 2 || got.Accepted != 1 || got.Bodies > 1 {
				t.Errorf("%d calls, %d messages, %d different bodies; want 2, 1, 1", got.Calls, got.Accepted, got.Bodies)
			}
			if v := b.view(); v.Facts.Email != order.EmailAccepted || v.Emails[0].Attempts != 2 {
				t.Errorf("email %s after %d attempts", v.Facts.Email, v.Emails[0].Attempts)
			}
		})
	}
}

func TestLimitIsWaitedOutAndSpendsNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		after, want int
	}{
		{"rate_limit_exceeded", 7, 8}, {"rate_limit_exceeded", 0, 3}, {"daily_quota_exceeded", 0, 3601}, {"daily_quota_exceeded", 1, 3601}, {"monthly_quota_exceeded", 0, 21601},
	} {
		t.Run(fmt.Sprint(c.name, c.after), func(t *testing.T) {
			t.Parallel()
			b := newBench(t).granted()
			b.cfg.EmailAttempts = 1
			f := quoting(429, c.name)
			f.RetryAfter, f.Times = c.after, 3
			b.fault(f)
			want := outcome{WaitSeconds: c.want, GiveUpSeconds: inSeconds(giveUp)}
			for range 3 {
				if sent, err := b.send(1); err != nil || sent != want {
					t.Fatalf("sent %+v, %v; want %+v", sent, err, want)
				}
			}
			if e := b.view().Emails[0]; e.Attempts != 0 || e.FirstAttemptAt == nil || e.Class != order.ClassRateLimited {
				t.Errorf("%d attempts, the first at %v, class %s; want none spent, and the window begun", e.Attempts, e.FirstAttemptAt, e.Class)
			}
			if sent, err := b.send(1); err != nil || sent.Email != order.EmailAccepted {
				t.Errorf("after the wait: %+v, %v", sent, err)
			}
		})
	}
}

func TestAttemptsEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t).granted()
	b.cfg.EmailAttempts = 2
	f := quoting(500, "application_error")
	f.Times = 0
	b.fault(f)
	for range 2 {
		_, err := b.send(1)
		b.wants(err, order.ClassUnknown)
	}
	_, err := b.send(1)
	b.wants(err, order.ClassExhausted)
	if got := b.calls(1).Calls; got != 2 {
		t.Errorf("%d calls, want 2", got)
	}
	if v := b.view(); v.Reason != order.ReasonEmailExhausted || v.Class != order.ClassExhausted {
		t.Errorf("reason %s, class %s", v.Reason, v.Class)
	}
}

func TestNoAttemptStartsAfterTheWindow(t *testing.T) {
	t.Parallel()
	b := newBench(t).granted()
	b.fault(quoting(500, "application_error"))
	_, err := b.send(1)
	b.wants(err, order.ClassUnknown)
	b.exec(`UPDATE obligations SET first_attempt_at = now() - interval '23 hours' WHERE session = $1 AND kind = 'email'`, b.key.Session)
	_, err = b.send(1)
	b.wants(err, order.ClassPastWindow)
	if got := b.calls(1).Calls; got != 1 {
		t.Errorf("%d calls, want one", got)
	}
	if v := b.view(); v.Reason != order.ReasonEmailUncertain || v.Facts.Email != order.EmailUncertain {
		t.Errorf("reason %s, email %s", v.Reason, v.Facts.Email)
	}
}

func TestTwoAttemptsAtOnceAreOneCall(t *testing.T) {
	t.Parallel()
	b := newBench(t).granted()
	held := b.fault(sandbox.Fault{Target: "resend.send", Mode: "hold", Times: 1})
	first := make(chan error, 1)
	go func() {
		_, err := b.send(1)
		first <- err
	}()
	b.awaitSandbox(sandbox.WaitFor{What: "waiting", Fault: held.ID})
	sent, err := b.send(1)
	if err != nil || sent.WaitSeconds < 1 || sent.WaitSeconds > 61 {
		t.Errorf("the second attempt: %+v, %v; want it to wait for the first one's claim", sent, err)
	}
	_, err = b.stop(order.ClassUnknown)
	b.wants(err, order.ClassRetry) // somebody may still be sending it: it is not marked for a person
	if v := b.view(); v.Facts.Email != order.EmailPending || v.Reason != "" {
		t.Errorf("email %s, reason %q", v.Facts.Email, v.Reason)
	}
	b.sandbox.Release()
	b.must(<-first)
	if got := b.calls(1).Calls; got != 1 {
		t.Errorf("%d calls, want one", got)
	}
}

func TestAttemptWhoseClaimExpiredCannotFinish(t *testing.T) {
	t.Parallel()
	b := newBench(t).granted()
	held := b.fault(sandbox.Fault{Target: "resend.send", Mode: "hold", Times: 1})
	stale := make(chan error, 1)
	go func() {
		_, err := b.send(1)
		stale <- err
	}()
	b.awaitSandbox(sandbox.WaitFor{What: "waiting", Fault: held.ID})
	b.exec(`UPDATE obligations SET claim_expires_at = clock_timestamp() WHERE session = $1 AND kind = 'email'`, b.key.Session)
	if sent, err := b.send(1); err != nil || sent.Email != order.EmailAccepted {
		t.Fatalf("the next attempt: %+v, %v", sent, err)
	}
	b.sandbox.Release()
	b.wants(<-stale, order.ClassUnknown)
	if got := b.calls(1); got.Accepted != 1 || got.Bodies != 1 {
		t.Errorf("%d messages of %d different bodies, want one", got.Accepted, got.Bodies)
	}
	if sent, err := b.send(1); err != nil || sent.Email != order.EmailAccepted {
		t.Errorf("the stale attempt's retry: %+v, %v", sent, err)
	}
}

func TestEmailThatNobodyAskedForIsNotSent(t *testing.T) {
	t.Parallel()
	b := newBench(t).granted()
	_, err := b.send(2)
	b.wants(err, order.ClassPermanent)
	if n := len(b.messages()); n != 0 {
		t.Errorf("%d messages", n)
	}
}

func TestDatabaseThatDoesNotRespondIsAClassOfItsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, run := range map[string]func(*activities.Activities) error{
		"payment": func(a *activities.Activities) error {
			_, err := attemptAt(t, a.ConfirmPayment, activities.ConfirmPaymentInput{Key: b.key, Again: true})
			return err
		},
		"access": func(a *activities.Activities) error {
			_, err := attemptAt(t, a.GrantAccess, activities.GrantAccessInput{Key: b.key})
			return err
		},
		"email": func(a *activities.Activities) error {
			_, err := attemptAt(t, a.SendAccessEmail, activities.SendAccessEmailInput{Key: b.key, Generation: 1})
			return err
		},
		"request": func(a *activities.Activities) error {
			_, err := execute[activities.DecideRequestResult](t, a.DecideRequest, activities.DecideRequestInput{Key: b.key, Kind: flow.KindResend, RequestID: "req_1", Reason: "asked"})
			return err
		},
		"refusal": func(a *activities.Activities) error {
			_, err := execute[activities.DecideRequestResult](t, a.DecideRequest,
				activities.DecideRequestInput{Key: b.key, Kind: flow.KindResend, RequestID: "req_1", Refusal: order.RefusedUnreadable})
			return err
		},
		"read": func(a *activities.Activities) error {
			_, err := attemptAt(t, a.ReadOrder, activities.ReadOrderInput{Key: b.key})
			return err
		},
		"stop": func(a *activities.Activities) error {
			_, err := attemptAt(t, a.StopStep, activities.StopStepInput{Key: b.key, Step: "payment", Class: order.ClassExhausted})
			return err
		},
	} {
		away := *b
		away.ledger = closedLedger(t)
		if err := run(away.worker()); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			b.wants(err, order.ClassLedger)
		}
	}
}

// The answer was lost, and it is too late to repeat the call: the provider's own event about the message proves it.
func TestEventOfTheProviderProvesThatALostCallArrived(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		again func(*bench)
	}{
		{"past the window", func(b *bench) {
			b.exec(`UPDATE obligations SET first_attempt_at = now() - interval '23 hours' WHERE session = $1 AND kind = 'email'`, b.key.Session)
		}},
		{"the key was used with other bytes", func(b *bench) { b.fault(quoting(409, "invalid_idempotent_request")) }},
		{"the attempts are spent", func(b *bench) {
			b.exec(`UPDATE obligations SET attempts = 1000 WHERE session = $1 AND kind = 'email'`, b.key.Session)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).granted()
			f := quoting(500, "application_error")
			f.Times = 1
			b.fault(f)
			_, err := b.send(1)
			b.wants(err, order.ClassUnknown)
			_, err = b.ledger.RecordEmailEvent(t.Context(), order.EmailEvent{
				ID: "msg_" + b.key.Session, Type: "email.sent", MessageID: "re_1", Delivery: order.DeliverySent,
				Tags: map[string]string{order.TagEnvironment: b.key.Environment, order.TagSession: b.key.Session, order.TagGeneration: "1"},
			})
			b.must(err)
			c.again(b)
			sent, err := b.send(1)
			if err != nil || sent.Email != order.EmailAccepted {
				t.Fatalf("%+v, %v", sent, err)
			}
			if v := b.view(); v.Facts.Email != order.EmailAccepted || v.Facts.Delivery != order.DeliverySent || v.Reason != "" {
				t.Errorf("email %s, %s, reason %q", v.Facts.Email, v.Facts.Delivery, v.Reason)
			}
		})
	}
}

// awaitSandbox fails the test when nothing of the kind happens.
func (b *bench) awaitSandbox(what sandbox.WaitFor) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	if _, reached := b.sandbox.Wait(ctx, what, 1); !reached {
		b.t.Fatalf("the sandbox saw nothing of %+v", what)
	}
}
