package sandbox_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/resend/resend-go/v2"

	"handover/internal/lab/sandbox"
)

var form = map[string]string{"Content-Type": "application/x-www-form-urlencoded"}

func buy(t *testing.T, c shop, how, email string) (session string) {
	t.Helper()
	body := url.Values{"buy": {how + " price_guide"}, "email": {email}}.Encode()
	a := made(do(t, "POST", c.Base+"/shop/buy", body, form))(t)
	session, found := strings.CutPrefix(a.header.Get("Location"), "http://shop.example/orders/test/")
	if a.status != 303 || !found {
		t.Fatalf("HTTP %d to %q: %s", a.status, a.header.Get("Location"), a.body)
	}
	return session
}

func eventType(t *testing.T, got received) string {
	t.Helper()
	var event struct{ Type string }
	must(t, json.Unmarshal(got.body, &event))
	return event.Type
}

func TestBuyingMakesASessionTellsTheWebhookAndReturnsToTheShop(t *testing.T) {
	t.Parallel()
	hook := receive(t, always(200))
	c := start(t, sandbox.Config{WebhookURL: hook.url, ShopReturnURL: "http://shop.example/"})
	for _, tc := range []struct {
		how, email, payment string
		webhooks            int
	}{{"once", " b@example.com ", "paid", 1}, {"twice", "b@example.com", "paid", 2}, {"later", "", "unpaid", 1}} {
		id := buy(t, c, tc.how, tc.email)
		sess := made(c.Session(id))(t)
		if sess.PaymentStatus != tc.payment || sess.Status != "complete" || sess.Amount != 1200 || sess.Email != strings.TrimSpace(tc.email) {
			t.Errorf("%s: %+v", tc.how, sess)
		}
		for range tc.webhooks {
			if kind := eventType(t, hook.next(t)); kind != "checkout.session.completed" {
				t.Errorf("%s: event %q", tc.how, kind)
			}
		}
	}
	if a := made(do(t, "POST", c.Base+"/shop/buy", "buy=once+price_none", form))(t); a.status != 400 {
		t.Errorf("unknown product: %d", a.status)
	}
}

func TestUnpaidSessionsWaitOnTheShopPageForTheirMoney(t *testing.T) {
	t.Parallel()
	hook := receive(t, always(200))
	c := start(t, sandbox.Config{WebhookURL: hook.url, ShopReturnURL: "http://shop.example"})
	for _, tc := range []struct{ press, event, payment, intent string }{
		{"arrives", "checkout.session.async_payment_succeeded", "paid", "succeeded"},
		{"fails", "checkout.session.async_payment_failed", "unpaid", "requires_payment_method"},
	} {
		id := buy(t, c, "later", "b@example.com")
		hook.next(t)
		page := c.Base + "/"
		if a := made(do(t, "GET", page, "", nil))(t); !strings.Contains(a.body, `id="`+id+`"`) {
			t.Errorf("%s: the session is not on the page", tc.press)
		}
		if a := made(do(t, "POST", c.Base+"/shop/sessions/"+id, "do="+tc.press, form))(t); a.status != 303 {
			t.Errorf("%s: HTTP %d %s", tc.press, a.status, a.body)
		}
		if kind := eventType(t, hook.next(t)); kind != tc.event {
			t.Errorf("%s: event %q", tc.press, kind)
		}
		sess := made(c.Session(id))(t)
		if sess.PaymentStatus != tc.payment || sess.PaymentIntent.Status != tc.intent {
			t.Errorf("%s: %+v", tc.press, sess)
		}
		if a := made(do(t, "GET", page, "", nil))(t); strings.Contains(a.body, `id="`+id+`"`) {
			t.Errorf("%s: the session still waits", tc.press)
		}
	}
}

func TestAPaidSessionIsRefundedOrDisputedOnTheShopPage(t *testing.T) {
	t.Parallel()
	hook := receive(t, always(200))
	c := start(t, sandbox.Config{WebhookURL: hook.url, ShopReturnURL: "http://shop.example"})
	opened := []string{"charge.dispute.created", "charge.dispute.funds_withdrawn"}
	type press struct {
		button string
		events []string
		says   string
	}
	for _, presses := range [][]press{
		{{"refund", []string{"refund.created", "charge.refunded"}, "Refunded: €12.00"}},
		{{"dispute", opened, "Disputed: needs_response"}, {"won", []string{"charge.dispute.closed", "charge.dispute.funds_reinstated"}, "Disputed: won"}},
		{{"dispute", opened, "Disputed: needs_response"}, {"lost", []string{"charge.dispute.closed"}, "Disputed: lost"}},
	} {
		id := buy(t, c, "once", "b@example.com")
		hook.next(t)
		for _, p := range presses {
			a := made(do(t, "POST", c.Base+"/shop/sessions/"+id, "do="+p.button, form))(t)
			if want := "http://shop.example/orders/test/" + id; a.status != 303 || a.header.Get("Location") != want {
				t.Errorf("%s: HTTP %d to %q", p.button, a.status, a.header.Get("Location"))
			}
			for _, want := range p.events {
				if kind := eventType(t, hook.next(t)); kind != want {
					t.Errorf("%s: event %q, want %q", p.button, kind, want)
				}
			}
			_, card, found := strings.Cut(made(do(t, "GET", c.Base+"/", "", nil))(t).body, `id="paid-`+id+`"`)
			if card, _, _ = strings.Cut(card, "</section>"); !found || !strings.Contains(card, p.says) {
				t.Errorf("%s: the page says %q, want %q", p.button, card, p.says)
			}
		}
	}
	for _, press := range []string{"refund", "dispute", "won"} {
		if a := made(do(t, "POST", c.Base+"/shop/sessions/cs_test_none", "do="+press, form))(t); a.status != 409 {
			t.Errorf("%s of an unknown session: HTTP %d", press, a.status)
		}
	}
}

func TestPagesSayWhatTheyAreAndFetchNothing(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{Products: []sandbox.Product{{Price: "price_1", Name: `<b>&"x`, Amount: 900}}})
	post(t, c.Base, "k", bodyA)
	id := c.Messages()[0].ID
	for _, path := range []string{"/", "/inbox", "/inbox/" + id} {
		a := made(do(t, "GET", c.Base+path, "", nil))(t)
		if a.status != 200 || !strings.Contains(a.body, "no real money, no real email") {
			t.Errorf("%s: HTTP %d", path, a.status)
		}
		for _, bad := range []string{"http://", "https://", "<script", "<b>&"} {
			if strings.Contains(a.body, bad) {
				t.Errorf("%s holds %q", path, bad)
			}
		}
		if !strings.Contains(a.header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: policy %q", path, a.header.Get("Content-Security-Policy"))
		}
	}
	if a := made(do(t, "GET", c.Base+"/inbox/none", "", nil))(t); a.status != 404 {
		t.Errorf("unknown message: %d", a.status)
	}
}

func TestInboxShowsTheMessageAndPlaysTheMailServer(t *testing.T) {
	t.Parallel()
	hook := receive(t, always(200))
	c := start(t, sandbox.Config{EmailWebhookURL: hook.url, ResendWebhookSecret: emailSecret})
	m := mail("Your guide")
	m.Html = `<html><head><title>x</title></head><body><a href="http://shop.example/d/1">open</a></body></html>`
	sent := made(resendClient(t, c.Base, "k").Emails.SendWithOptions(t.Context(), m, &resend.SendEmailOptions{IdempotencyKey: "key/1"}))(t)

	list := made(do(t, "GET", c.Base+"/inbox", "", nil))(t).body
	for _, want := range []string{"Your guide", "a@example.com", "key key/1", "/inbox/" + sent.Id} {
		if !strings.Contains(list, want) {
			t.Errorf("the inbox lacks %q", want)
		}
	}
	html := made(do(t, "GET", c.Base+"/inbox/"+sent.Id+"/html", "", nil))(t)
	if !strings.Contains(html.body, `<head><base target="_blank"><title>`) || !strings.HasPrefix(html.header.Get("Content-Security-Policy"), "sandbox allow-popups") {
		t.Errorf("%s\n%v", html.body, html.header)
	}
	for _, event := range []string{"email.delivered", "email.bounced"} {
		a := made(do(t, "POST", c.Base+"/inbox/"+sent.Id, "event="+event, form))(t)
		if a.status != 303 || a.header.Get("Location") != "/inbox/"+sent.Id+"?taken=yes" {
			t.Errorf("%s: HTTP %d %q", event, a.status, a.header.Get("Location"))
		}
		if kind := eventType(t, hook.next(t)); kind != event {
			t.Errorf("reported %q, want %q", kind, event)
		}
		if got := c.Messages()[0].LastEvent; "email."+got != event {
			t.Errorf("last event %q", got)
		}
	}
}
