package activities

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"handover/internal/email"
	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

func TestAnswersOfTheEmailProviderAreClassed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		name   string
		after  time.Duration
		class  order.Class
		wait   time.Duration
	}{
		// https://resend.com/docs/api-reference/errors
		{400, "invalid_idempotency_key", 0, order.ClassPermanent, 0},
		{400, "validation_error", 0, order.ClassPermanent, 0},
		{401, "missing_api_key", 0, order.ClassMisconfigured, 0},
		{401, "restricted_api_key", 0, order.ClassMisconfigured, 0},
		{401, "validation_error", 0, order.ClassMisconfigured, 0},
		{403, "invalid_api_key", 0, order.ClassMisconfigured, 0},
		{403, "validation_error", 0, order.ClassMisconfigured, 0},
		{404, "not_found", 0, order.ClassPermanent, 0},
		{405, "method_not_allowed", 0, order.ClassPermanent, 0},
		{409, "invalid_idempotent_request", 0, order.ClassUncertain, 0},
		{409, "concurrent_idempotent_requests", 0, order.ClassUnknown, 0},
		{409, "resource_locked", 0, order.ClassUnknown, 0},
		{422, "invalid_attachment", 0, order.ClassPermanent, 0},
		{422, "invalid_from_address", 0, order.ClassPermanent, 0},
		{422, "invalid_access", 0, order.ClassPermanent, 0},
		{422, "invalid_parameter", 0, order.ClassPermanent, 0},
		{422, "invalid_region", 0, order.ClassPermanent, 0},
		{422, "missing_required_field", 0, order.ClassPermanent, 0},
		{422, "validation_error", 0, order.ClassPermanent, 0},
		{429, "rate_limit_exceeded", 0, order.ClassRateLimited, 2 * time.Second},
		{429, "rate_limit_exceeded", 7 * time.Second, order.ClassRateLimited, 7 * time.Second},
		{429, "daily_quota_exceeded", 0, order.ClassRateLimited, time.Hour},
		{429, "daily_quota_exceeded", 5 * time.Hour, order.ClassRateLimited, 5 * time.Hour},
		{429, "monthly_quota_exceeded", 0, order.ClassRateLimited, 6 * time.Hour},
		{429, "", 3 * time.Second, order.ClassRateLimited, 3 * time.Second},
		{451, "security_error", 0, order.ClassPermanent, 0},
		{500, "application_error", 0, order.ClassUnknown, 0},
		{500, "internal_server_error", 0, order.ClassUnknown, 0},
		{503, "service_unavailable", 9 * time.Second, order.ClassUnknown, 0},
		// What is not documented goes by its status.
		{0, "", 0, order.ClassUnknown, 0},
		{302, "", 0, order.ClassMisconfigured, 0},
		{408, "", 0, order.ClassUnknown, 0},
		{409, "", 0, order.ClassUnknown, 0},
		{418, "", 0, order.ClassPermanent, 0},
		{502, "", 0, order.ClassUnknown, 0},
	} {
		got := judge(fmt.Errorf("send: %w", &email.SendError{Status: c.status, Name: c.name, RetryAfter: c.after}))
		if want := (verdict{c.class, c.wait}); got != want {
			t.Errorf("HTTP %d %q after %s: %+v, want %+v", c.status, c.name, c.after, got, want)
		}
	}
	if got := judge(&email.SendError{Status: 200, Unreadable: true}); got.class != order.ClassUnknown {
		t.Errorf("success that cannot be read: %+v, want unknown", got)
	}
}

func TestAnswersOfThePaymentProviderAreClassed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		after  time.Duration
		class  order.Class
		wait   time.Duration
	}{
		{0, 0, order.ClassRetry, 0},
		{301, 0, order.ClassMisconfigured, 0},
		{400, 0, order.ClassPermanent, 0},
		{401, 0, order.ClassMisconfigured, 0},
		{402, 0, order.ClassPermanent, 0},
		{403, 0, order.ClassMisconfigured, 0},
		{404, 0, order.ClassPermanent, 0},
		{408, 0, order.ClassRetry, 0},
		{409, 0, order.ClassRetry, 0},
		{429, 0, order.ClassRateLimited, 2 * time.Second},
		{429, time.Minute, order.ClassRateLimited, time.Minute},
		{500, time.Minute, order.ClassRetry, 0},
		{503, 0, order.ClassRetry, 0},
	} {
		got := judge(fmt.Errorf("read: %w", &payment.APIError{Status: c.status, RetryAfter: c.after}))
		if want := (verdict{c.class, c.wait}); got != want {
			t.Errorf("HTTP %d after %s: %+v, want %+v", c.status, c.after, got, want)
		}
	}
}

func TestOwnErrorsAreClassed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err   error
		class order.Class
	}{
		{fmt.Errorf("claim: %w", ledger.ErrNoAddress), order.ClassPermanent},
		{fmt.Errorf("make: %w", errMisconfigured), order.ClassMisconfigured},
		{ledger.ErrLeaseLost, order.ClassRetry},
		{errors.New("connection refused"), order.ClassRetry},
	} {
		if got := judge(c.err).class; got != c.class {
			t.Errorf("%v: %s, want %s", c.err, got, c.class)
		}
	}
}

func TestEveryFinalClassHasAReasonOfItsOwnStep(t *testing.T) {
	t.Parallel()
	want := map[string]map[order.Class]order.Reason{
		stepPayment: {
			order.ClassMisconfigured: order.ReasonPaymentConfig, order.ClassPermanent: order.ReasonPaymentStopped,
			order.ClassExhausted: order.ReasonPaymentStopped, order.ClassUnknown: order.ReasonPaymentStopped,
		},
		stepAccess: {
			order.ClassMisconfigured: order.ReasonAccessStopped, order.ClassPermanent: order.ReasonAccessStopped,
			order.ClassExhausted: order.ReasonAccessStopped, order.ClassUnknown: order.ReasonAccessStopped,
		},
		stepEmail: {
			order.ClassMisconfigured: order.ReasonEmailConfig, order.ClassPermanent: order.ReasonEmailRefused,
			order.ClassExhausted: order.ReasonEmailExhausted, order.ClassUnknown: order.ReasonEmailExhausted,
			order.ClassUncertain: order.ReasonEmailUncertain, order.ClassPastWindow: order.ReasonEmailUncertain,
		},
	}
	for step, classes := range want {
		for class, reason := range classes {
			if got := reasonFor(step, class); got != reason {
				t.Errorf("%s, %s: %s, want %s", step, class, got, reason)
			}
			if string(reason.Step()) != step {
				t.Errorf("%s is said to be of step %q, want %s", reason, reason.Step(), step)
			}
		}
	}
}

func TestOnlyAClassReachesTemporal(t *testing.T) {
	t.Parallel()
	a := New(Deps{Outcomes: uncounted{}, Log: discard}, Config{})
	cause := errors.New("550 alex@example.com refused by re_key")
	for class, final := range map[order.Class]bool{
		order.ClassRetry: false, order.ClassUnknown: false, order.ClassPermanent: true, order.ClassMisconfigured: true,
		order.ClassExhausted: true, order.ClassPastWindow: true, order.ClassUncertain: true,
	} {
		err := a.failed(t.Context(), stepEmail, order.Key{Environment: "test", Session: "cs_1"}, class, cause)
		var application *temporal.ApplicationError
		if !errors.As(err, &application) {
			t.Fatalf("%s: %T", class, err)
		}
		if application.Type() != string(class) || application.NonRetryable() != final {
			t.Errorf("%s: type %s, final %v; want final %v", class, application.Type(), application.NonRetryable(), final)
		}
		if application.Message() != "email: "+string(class) || application.Unwrap() != nil {
			t.Errorf("%s: %q with cause %v, want the class and nothing else", class, application.Message(), application.Unwrap())
		}
	}
}
