package sandbox_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/resend/resend-go/v2"
	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"handover/internal/lab/sandbox"
)

const (
	stripeSecret = "whsec_sandbox_stripe_payments"
	emailSecret  = "whsec_c2FuZGJveC1lbWFpbC1zZWNyZXQtMzItYnl0ZXM="
)

func TestPaymentEventIsSignedAndShowsTheSession(t *testing.T) {
	t.Parallel()
	hook := receive(t, always(200))
	c := start(t, sandbox.Config{StripeSecret: stripeSecret, WebhookURL: hook.url})
	sess := made(c.CreateSession(sandbox.Session{Items: []sandbox.Item{{Price: "price_guide"}}}))(t)
	d := made(c.DeliverEvent(t.Context(), sandbox.EventRequest{Type: "checkout.session.completed", Session: sess.ID, EventID: "evt_1", Copies: 3}))(t)
	if diff := cmp.Diff(sandbox.Delivery{EventID: "evt_1", Statuses: []int{200, 200, 200}}, d); diff != "" {
		t.Error(diff)
	}
	for range 3 {
		got := hook.next(t)
		event, err := webhook.ConstructEvent(got.body, got.header.Get("Stripe-Signature"), stripeSecret)
		must(t, err)
		if event.ID != "evt_1" || event.Type != "checkout.session.completed" || event.Livemode {
			t.Errorf("event: %+v", event)
		}
		var object stripe.CheckoutSession
		must(t, json.Unmarshal(event.Data.Raw, &object))
		if object.ID != sess.ID || object.LineItems != nil || object.PaymentStatus != "paid" {
			t.Errorf("object: %+v", object)
		}
	}
	var ids []string
	for e, err := range stripeClient(c.Base, "k").V1Events.List(t.Context(), &stripe.EventListParams{}).All(t.Context()) {
		must(t, err)
		ids = append(ids, e.ID)
	}
	if diff := cmp.Diff([]string{"evt_1"}, ids); diff != "" {
		t.Error(diff)
	}
	if n := c.Counts().Webhooks; n != (sandbox.WebhookCounts{Taken: 3}) {
		t.Errorf("counts: %+v", n)
	}
}

func TestRawBodyIsDeliveredAsItIs(t *testing.T) {
	t.Parallel()
	hook := receive(t, always(400))
	c := start(t, sandbox.Config{StripeSecret: "another_secret_of_the_endpoint"})
	if _, err := c.DeliverEvent(t.Context(), sandbox.EventRequest{Raw: "["}); err == nil {
		t.Error("delivered without an address")
	}
	c.SetWebhookURLs(hook.url, "")
	d := made(c.DeliverEvent(t.Context(), sandbox.EventRequest{Raw: "[", Secret: stripeSecret}))(t)
	got := hook.next(t)
	if string(got.body) != "[" || d.Statuses[0] != http.StatusBadRequest {
		t.Errorf("body %q, statuses %v", got.body, d.Statuses)
	}
	must(t, webhook.ValidatePayload(got.body, got.header.Get("Stripe-Signature"), stripeSecret))
}

func TestEventIsRepeatedUntilItIsTaken(t *testing.T) {
	t.Parallel()
	hook := receive(t, func(n int) int {
		if n < 3 {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	})
	c := start(t, sandbox.Config{
		StripeSecret: stripeSecret, WebhookURL: hook.url,
		RetryAfter: []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond, time.Millisecond},
	})
	sess := made(c.CreateSession(sandbox.Session{}))(t)
	d := made(c.DeliverEvent(t.Context(), sandbox.EventRequest{Type: "checkout.session.completed", Session: sess.ID, Retry: true}))(t)
	if d.Statuses[0] != http.StatusServiceUnavailable {
		t.Errorf("first: %v", d.Statuses)
	}
	c.await(t, sandbox.WaitFor{What: "webhooks"}, 1)
	first := hook.next(t)
	for range 2 {
		if again := hook.next(t); string(again.body) != string(first.body) {
			t.Error("a repetition has another body")
		}
	}
	if n := c.Counts().Webhooks; n != (sandbox.WebhookCounts{Taken: 1, Refused: 2}) {
		t.Errorf("counts: %+v", n)
	}
}

func TestRedirectIsAFailureAndIsNotFollowed(t *testing.T) {
	t.Parallel()
	hook := receive(t, always(http.StatusPermanentRedirect))
	c := start(t, sandbox.Config{WebhookURL: hook.url})
	d := made(c.DeliverEvent(t.Context(), sandbox.EventRequest{Raw: "{}"}))(t)
	if d.Statuses[0] != http.StatusPermanentRedirect {
		t.Errorf("statuses %v", d.Statuses)
	}
}

func TestEmailEventIsSignedAndCarriesTheTags(t *testing.T) {
	t.Parallel()
	hook := receive(t, always(200))
	c := start(t, sandbox.Config{ResendWebhookSecret: emailSecret, EmailWebhookURL: hook.url})
	rc := resendClient(t, c.Base, "re_1")
	sent := made(rc.Emails.SendWithOptions(t.Context(), mail("x"), &resend.SendEmailOptions{IdempotencyKey: "k"}))(t)
	d := made(c.DeliverEmailEvent(t.Context(), sent.Id, sandbox.EmailEventRequest{Type: "email.bounced"}))(t)
	got := hook.next(t)
	must(t, rc.Webhooks.Verify(&resend.VerifyWebhookOptions{Payload: string(got.body), WebhookSecret: emailSecret, Headers: resend.WebhookHeaders{
		Id: got.header.Get("svix-id"), Timestamp: got.header.Get("svix-timestamp"), Signature: got.header.Get("svix-signature"),
	}}))
	var event struct {
		Type string
		Data struct {
			EmailID string `json:"email_id"`
			Tags    map[string]string
			Bounce  struct{ Type string }
		}
	}
	must(t, json.Unmarshal(got.body, &event))
	if event.Type != "email.bounced" || event.Data.EmailID != sent.Id || event.Data.Bounce.Type != "Permanent" ||
		event.Data.Tags["handover_session"] != "cs_test_1" || got.header.Get("svix-id") != d.EventID {
		t.Errorf("event: %+v", event)
	}
	if e := made(rc.Emails.GetWithContext(t.Context(), sent.Id))(t); e.LastEvent != "bounced" {
		t.Errorf("last event %q", e.LastEvent)
	}
	if _, err := c.DeliverEmailEvent(t.Context(), "unknown", sandbox.EmailEventRequest{Type: "email.sent"}); err == nil {
		t.Error("an event of an unknown message was delivered")
	}
}

func TestEmailSecretThatIsNoneIsRefusedAtStart(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"whsec_", "whsec_not base64"} {
		if _, err := sandbox.New(sandbox.Config{ResendWebhookSecret: secret}); err == nil {
			t.Errorf("%q was taken", secret)
		}
	}
}
