package order_test

import (
	"testing"
	"time"

	"handover/internal/order"
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
		{404, "not_found", 0, order.ClassMisconfigured, 0},
		{405, "method_not_allowed", 0, order.ClassMisconfigured, 0},
		{409, "invalid_idempotent_request", 0, order.ClassUncertain, 0},
		{409, "concurrent_idempotent_requests", 0, order.ClassUnknown, 0},
		{409, "resource_locked", 0, order.ClassUnknown, 0},
		{422, "invalid_attachment", 0, order.ClassPermanent, 0},
		{422, "invalid_from_address", 0, order.ClassMisconfigured, 0},
		{422, "invalid_access", 0, order.ClassMisconfigured, 0},
		{422, "invalid_parameter", 0, order.ClassPermanent, 0},
		{422, "invalid_region", 0, order.ClassPermanent, 0},
		{422, "missing_required_field", 0, order.ClassPermanent, 0},
		{422, "validation_error", 0, order.ClassPermanent, 0},
		{429, "rate_limit_exceeded", 0, order.ClassRateLimited, 0},
		{429, "rate_limit_exceeded", 7 * time.Second, order.ClassRateLimited, 7 * time.Second},
		{429, "daily_quota_exceeded", 0, order.ClassRateLimited, time.Hour},
		{429, "daily_quota_exceeded", time.Second, order.ClassRateLimited, time.Hour},
		{429, "daily_quota_exceeded", 5 * time.Hour, order.ClassRateLimited, 5 * time.Hour},
		{429, "monthly_quota_exceeded", 0, order.ClassRateLimited, 6 * time.Hour},
		{429, "", 3 * time.Second, order.ClassRateLimited, 3 * time.Second},
		{451, "security_error", 0, order.ClassMisconfigured, 0},
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
		class, wait := order.Classify(order.Failure{Status: c.status, Name: c.name, Write: true, RetryAfter: c.after})
		if class != c.class || wait != c.wait {
			t.Errorf("HTTP %d %q after %s: %s, %s; want %s, %s", c.status, c.name, c.after, class, wait, c.class, c.wait)
		}
	}
	if class, _ := order.Classify(order.Failure{Status: 200, Unreadable: true, Write: true}); class != order.ClassUnknown {
		t.Errorf("success that cannot be read: %s, want unknown", class)
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
		{429, 0, order.ClassRateLimited, 0},
		{429, time.Minute, order.ClassRateLimited, time.Minute},
		{500, time.Minute, order.ClassRetry, 0},
		{503, 0, order.ClassRetry, 0},
	} {
		class, wait := order.Classify(order.Failure{Status: c.status, RetryAfter: c.after})
		if class != c.class || wait != c.wait {
			t.Errorf("HTTP %d after %s: %s, %s; want %s, %s", c.status, c.after, class, wait, c.class, c.wait)
		}
	}
}

func TestEveryFinalClassHasAReasonOfItsOwnStep(t *testing.T) {
	t.Parallel()
	want := map[order.Step]map[order.Class]order.Reason{
		order.StepPayment: {
			order.ClassMisconfigured: order.ReasonPaymentConfig, order.ClassPermanent: order.ReasonPaymentStopped,
			order.ClassExhausted: order.ReasonPaymentStopped, order.ClassUnknown: order.ReasonPaymentStopped,
		},
		order.StepAccess: {
			order.ClassMisconfigured: order.ReasonAccessStopped, order.ClassPermanent: order.ReasonAccessStopped,
			order.ClassExhausted: order.ReasonAccessStopped, order.ClassUnknown: order.ReasonAccessStopped,
		},
		order.StepReversal:     {order.ClassPermanent: order.ReasonReversalUnread, order.ClassExhausted: order.ReasonReversalUnread},
		order.StepAccessChange: {order.ClassPermanent: order.ReasonRevokeStopped, order.ClassExhausted: order.ReasonRevokeStopped},
		order.StepEmail: {
			order.ClassMisconfigured: order.ReasonEmailConfig, order.ClassPermanent: order.ReasonEmailRefused,
			order.ClassExhausted: order.ReasonEmailExhausted, order.ClassUnknown: order.ReasonEmailExhausted,
			order.ClassUncertain: order.ReasonEmailUncertain, order.ClassPastWindow: order.ReasonEmailUncertain,
		},
	}
	for step, classes := range want {
		for class, reason := range classes {
			if got := order.ReasonFor(step, class); got != reason {
				t.Errorf("%s, %s: %s, want %s", step, class, got, reason)
			}
			if reason.Step() != step {
				t.Errorf("%s is said to be of step %q, want %s", reason, reason.Step(), step)
			}
		}
	}
}
