package web_test

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/order"
	"handover/internal/web"
)

func get(s http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	return send(s, http.MethodGet, path, nil, header...)
}

var tags = regexp.MustCompile(`<[^>]*>`)

// words is what a reader sees of a page.
func words(page string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(page, " "))), " ")
}

func TestPageSaysEachState(t *testing.T) {
	t.Parallel()
	says := map[string]struct{ has, hasNot []string }{
		"waiting_for_payment": {[]string{"Waiting for payment confirmation", "updates by itself"}, []string{"Download", "Send it again"}},
		"payment_processing":  {[]string{"Waiting for payment confirmation", "can take days", "do not pay again"}, []string{"Download"}},
		"payment_failed":      {[]string{"The payment did not go through"}, []string{"Download field", "Waiting"}},
		"preparing":           {[]string{"Preparing your download"}, []string{"field-guide.pdf", "Send it again"}},
		"ready_email_pending": {[]string{"Ready", "field-guide.pdf", "The email is still on its way"}, []string{"Send it again"}},
		"ready":               {[]string{"Ready", "Download field-guide.pdf", "K3Y5-ABCD-EFGH-JKLM", "Email sent to a•••@e•••.com", "Send it again", "€29.00"}, []string{"alex@"}},
		"ready_email_bounced": {[]string{"Ready", "field-guide.pdf", "The email came back", "contact the shop"}, []string{"Send it again", "delivered"}},
		"on_hold":             {[]string{"On hold while the payment is being disputed"}, []string{"field-guide.pdf", "K3Y5", "Send it again"}},
		"ended":               {[]string{"Refunded: access has ended"}, []string{"field-guide.pdf", "K3Y5", "Send it again"}},
		"looking_into_it":     {[]string{"We are looking into it", "You need not pay again"}, []string{"field-guide.pdf"}},
		"not_ours":            {[]string{"This order is not delivered here"}, []string{"field-guide.pdf", "Waiting"}},
	}
	for _, state := range states {
		s := newShop(t)
		s.set(state.view)
		w := get(s, orderPath)
		text := words(w.Body.String())
		if w.Code != 200 {
			t.Errorf("%s: got %d", state.name, w.Code)
		}
		for _, want := range says[state.name].has {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not on the page: %s", state.name, want, text)
			}
		}
		for _, bad := range says[state.name].hasNot {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %q is on the page: %s", state.name, bad, text)
			}
		}
		if live := strings.Contains(w.Body.String(), "data-live"); live == state.view.Facts.CustomerState().Settled() {
			t.Errorf("%s: page asks for more: %v", state.name, live)
		}
	}
	if len(says) != len(states) {
		t.Error("a state is not tested")
	}
}

func TestPageSaysWhatIsKnownOfTheEmail(t *testing.T) {
	t.Parallel()
	noAddress := func(v *order.View) { v.Address, v.Emails = "", nil }
	tests := []struct {
		name string
		view order.View
		want string
	}{
		{"uncertain", bought(facts("confirmed", "granted", "uncertain", "")), "We could not confirm the email; your download is here"},
		{"needs attention", bought(facts("confirmed", "granted", "needs_attention", "")), "We could not confirm the email; your download is here"},
		{"no address", bought(facts("confirmed", "granted", "needs_attention", ""), noAddress), "We have no email address of yours"},
		{"delivered", bought(facts("confirmed", "granted", "accepted", "delivered")), "Sent to a•••@e•••.com and delivered"},
		{"delayed", bought(facts("confirmed", "granted", "accepted", "delayed")), "slow to take it"},
		{"sent to a newer address", bought(func(v *order.View) {
			v.Emails = append(v.Emails, order.EmailView{Generation: 2, Address: "zoe@other.org"})
		}), "Email sent to z•••@o•••.org"},
	}
	for _, test := range tests {
		s := newShop(t)
		s.set(test.view)
		if text := words(get(s, orderPath).Body.String()); !strings.Contains(text, test.want) || !strings.Contains(text, "field-guide.pdf") {
			t.Errorf("%s: %q or the download is not on the page: %s", test.name, test.want, text)
		}
	}
}

func TestJSONIsTheContract(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought(facts("confirmed", "granted", "accepted", "bounced"), func(v *order.View) { v.ConfirmedAt = nil }))
	w := get(s, orderPath, "Accept", "application/json")
	const want = `{"order":"test/cs_test_1","payment":{"state":"confirmed"},"access":{"state":"granted"},` +
		`"email":{"state":"accepted","delivery":"bounced"},"customer_state":"ready_email_bounced"}` + "\n"
	if diff := cmp.Diff(want, w.Body.String()); diff != "" {
		t.Error(diff)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json" || w.Header().Get("Vary") != "Accept" {
		t.Errorf("got type %q, Vary %q", got, w.Header().Get("Vary"))
	}
}

func TestJSONOffersWhatThePageOffers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought())
	body := get(s, orderPath, "Accept", "application/json").Body.String()
	for _, want := range []string{
		`"downloads":[{"name":"field-guide.pdf","url":"/orders/test/cs_test_1/downloads/7"}]`,
		`"licenses":[{"product":"The Field Guide","key":"K3Y5-ABCD-EFGH-JKLM"}]`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
	s.now = noon.Add(25 * time.Hour)
	if body := get(s, orderPath, "Accept", "application/json").Body.String(); strings.Contains(body, "downloads") || strings.Contains(body, "K3Y5") {
		t.Errorf("after the window: %s", body)
	}
}

func TestUnknownOrderIsPending(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const want = `{"order":"test/cs_test_1","payment":{"state":"pending"},"access":{"state":"pending"},` +
		`"email":{"state":"pending","delivery":""},"customer_state":"waiting_for_payment"}` + "\n"
	w := get(s, orderPath, "Accept", "application/json")
	if diff := cmp.Diff(want, w.Body.String()); diff != "" || w.Code != 200 {
		t.Errorf("%d %s", w.Code, diff)
	}
	if w := get(s, orderPath); w.Code != 200 || !strings.Contains(w.Body.String(), "Waiting for payment confirmation") {
		t.Errorf("page: got %d", w.Code)
	}
	if len(s.events)+len(s.handed)+s.resent != 0 {
		t.Error("looking did something")
	}
}

func TestIllFormedOrdersAreNotFound(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, path := range []string{
		"/orders/nowhere/cs_test_1", "/orders/test/cs_live_1", "/orders/live/cs_test_1", "/orders/test/cs_test_ä", "/orders/test/%00",
		"/orders/test", "/orders", "/orders/test/cs_test_1/other", "/orders/test/cs_test_" + strings.Repeat("a", 200),
		"/orders/test/cs_test_1'--", "/nothing",
	} {
		for _, accept := range []string{"text/html", "application/json"} {
			w := get(s, path, "Accept", accept)
			if w.Code != 404 || w.Header().Get("Cache-Control") != "no-store" || !strings.HasPrefix(w.Header().Get("Content-Type"), accept) {
				t.Errorf("%s as %s: got %d %v", path, accept, w.Code, w.Header())
			}
		}
	}
}

func TestPageTriesAgainWhileTheLedgerIsAway(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.readErr = errors.New("database is away")
	for _, path := range []string{orderPath, "/d/" + token} {
		w := get(s, path)
		body := w.Body.String()
		if w.Code != 503 || !strings.Contains(body, `http-equiv="refresh"`) || w.Header().Get("Retry-After") == "" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: got %d %v", path, w.Code, w.Header())
		}
		if strings.Contains(body, "database") {
			t.Errorf("%s: the page tells the cause: %s", path, body)
		}
	}
	if w := get(s, orderPath, "Accept", "application/json"); w.Code != 503 || !strings.Contains(w.Body.String(), `"error"`) {
		t.Errorf("JSON: got %d %s", w.Code, w.Body)
	}
}

func TestWindowEndsOnThePageBySession(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought())
	s.now = noon.Add(24 * time.Hour)
	text := words(get(s, orderPath).Body.String())
	if strings.Contains(text, "field-guide.pdf") || strings.Contains(text, "K3Y5") {
		t.Errorf("still offered: %s", text)
	}
	for _, want := range []string{"use the link in the email", "Send it again", "Email sent to a•••@e•••.com"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the page: %s", want, text)
		}
	}
	s.set(bought(facts("confirmed", "granted", "accepted", "bounced")))
	if text := words(get(s, orderPath).Body.String()); !strings.Contains(text, "contact the shop for an email") {
		t.Errorf("bounced: %s", text)
	}
}

// The session id is printed in every email: whoever has the one that went to a wrong address has that, too.
func TestRelinkClosesThePageBySession(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought(secondEmail, func(v *order.View) { v.LinkVersion = 2 }))
	text := words(get(s, orderPath).Body.String())
	if strings.Contains(text, "field-guide.pdf") || strings.Contains(text, "K3Y5") || !strings.Contains(text, "use the link in the email") {
		t.Errorf("the page still offers, or does not say where: %s", text)
	}
	if body := get(s, orderPath, "Accept", "application/json").Body.String(); strings.Contains(body, "downloads") || strings.Contains(body, "K3Y5") {
		t.Errorf("the JSON still offers: %s", body)
	}
	if w := get(s, orderPath+"/downloads/7"); w.Code != 403 || !strings.Contains(w.Body.String(), "new link") {
		t.Errorf("the download: got %d %s", w.Code, w.Body)
	}
	if w := get(s, "/d/"+token+"/7"); w.Code != 200 {
		t.Errorf("by link: got %d", w.Code)
	}
}

func TestAnotherEmailWithTheSameLinkLeavesThePageBySessionOpen(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought(secondEmail))
	if text := words(get(s, orderPath).Body.String()); !strings.Contains(text, "field-guide.pdf") || !strings.Contains(text, "K3Y5") {
		t.Errorf("nothing is offered: %s", text)
	}
	if w := get(s, orderPath+"/downloads/7"); w.Code != 200 {
		t.Errorf("the download: got %d", w.Code)
	}
}

func secondEmail(v *order.View) {
	v.Emails = append(v.Emails, order.EmailView{Generation: 2, State: order.EmailAccepted, Address: "alex@example.org"})
}

func TestPageEscapesEverything(t *testing.T) {
	t.Parallel()
	const name = `<a href="https://evil.test">Claim</a> {{7*7}} Tom & "Jerry" <3`
	s := newShop(t)
	s.set(bought(func(v *order.View) {
		v.Items = []order.Item{{Name: name, Quantity: 3}, {Product: "course", Quantity: 1}}
		v.Address = `"<b>"@evil.test`
		v.Emails = nil
		v.Grants = []order.Grant{
			{ID: 1, Product: "guide", Kind: "download", File: `x/"><script>alert(1)</script>.pdf`, State: order.AccessGranted},
			{ID: 2, Product: "guide", Kind: "license", Secret: `<img src=x onerror=alert(1)>`, State: order.AccessGranted},
		}
	}))
	w := get(s, orderPath+"?sent=<script>alert(2)</script>")
	page := w.Body.String()
	for _, bad := range []string{"<a href=\"https://evil", "<script>alert", "<img", "<b>", "49", "alert(2)"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q is in the page", bad)
		}
	}
	if text := words(page); !strings.Contains(text, name+" × 3") || !strings.Contains(text, `Tom & "Jerry" <3`) {
		t.Errorf("the name is not shown as it is: %s", text)
	}
}

func TestPartlyRevokedOrderSaysWhatEnded(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought(func(v *order.View) {
		v.Grants = append(v.Grants, order.Grant{ID: 9, Product: "course", Kind: "github", State: order.AccessRevoked},
			order.Grant{ID: 10, Product: "guide", Kind: "github", State: order.AccessGranted})
	}))
	text := words(get(s, orderPath).Body.String())
	for _, want := range []string{`Tom & "Jerry" <3: access has ended`, "field-guide.pdf", "The Field Guide: your invitation comes separately"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the page: %s", want, text)
		}
	}
}

func TestNothingOfAnOrderIsOfferedBeforeItsPaymentIsConfirmed(t *testing.T) {
	t.Parallel()
	for _, payment := range []order.PaymentState{"pending", "failed", "ignored", "needs_attention"} {
		s := newShop(t)
		s.set(bought(func(v *order.View) { v.Facts.Payment = payment }))
		if text := words(get(s, orderPath).Body.String()); strings.Contains(text, "field-guide.pdf") || strings.Contains(text, "K3Y5") {
			t.Errorf("%s: %s", payment, text)
		}
	}
}

var address = regexp.MustCompile(`(?:src|href|action|content)="((?:https?:)?//[^"]*)"`)

func TestPagesAskNoThirdParty(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, state := range states {
		s.set(state.view)
		for _, path := range []string{orderPath, "/d/" + token, "/nothing"} {
			if found := address.FindStringSubmatch(get(s, path).Body.String()); found != nil {
				t.Errorf("%s on %s leads to %s", state.name, path, found[1])
			}
		}
	}
}

func TestEveryAnswerKeepsToItself(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought())
	for _, path := range []string{orderPath, "/d/" + token, orderPath + "/downloads/7", "/nothing", "/webhooks/payments/test", "/"} {
		w := get(s, path)
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Strict-Transport-Security": "max-age=31536000", "X-Robots-Tag": "noindex", "X-Content-Type-Options": "nosniff",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if got := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'none'; ") || strings.Contains(got, "unsafe") {
			t.Errorf("%s: policy %q", path, got)
		}
	}
}

func TestHeadIsAnsweredLikeGet(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought())
	for _, path := range []string{orderPath, "/d/" + token, "/nothing"} {
		a, b := get(s, path), send(s, http.MethodHead, path, nil)
		if a.Code != b.Code || a.Header().Get("Content-Length") != b.Header().Get("Content-Length") {
			t.Errorf("%s: GET %d, HEAD %d", path, a.Code, b.Code)
		}
	}
}

// A test sale must not be taken for a sold one.
func TestPageOfATestEnvironmentSaysSo(t *testing.T) {
	t.Parallel()
	const banner = "This is a test order"
	for environment, want := range map[string]bool{"test": true, "live": false} {
		key := order.Key{Environment: environment, Session: "cs_" + environment + "_a1"}
		s := newShop(t)
		if page := get(s, "/orders/"+key.String()).Body.String(); strings.Contains(words(page), banner) != want {
			t.Errorf("%s: the page is %s", environment, words(page))
		}
	}
}

// Where success_url was encoded, Stripe leaves the placeholder as it is: the buyer sees a page that calms, and the owner is
// notified.
func TestBuyerWhoComesBackWithoutASessionIsCalmed(t *testing.T) {
	t.Parallel()
	heard := 0
	s := newShop(t, func(d *web.Deps, _ *web.Config) { d.Misled = func(context.Context) { heard++ } })
	paths := []string{"/orders/live/%7BCHECKOUT_SESSION_ID%7D", "/orders/live/%257BCHECKOUT_SESSION_ID%257D", "/orders/live/{CHECKOUT_SESSION_ID}"}
	for _, path := range paths {
		if got := get(s, path); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "You need not pay again") {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
	if heard != len(paths) {
		t.Errorf("the owner was notified %d times", heard)
	}
}

// Who has a voucher still has to pay it.
func TestVoucherIsNotSaidToBePaid(t *testing.T) {
	t.Parallel()
	for _, toPay := range []bool{true, false} {
		s := newShop(t)
		s.set(bought(facts("pending", "pending", "pending", ""), func(v *order.View) { v.Facts.Processing, v.Facts.ToPay = true, toPay }))
		page := words(get(s, orderPath).Body.String())
		if strings.Contains(page, "do not pay again") == toPay || strings.Contains(page, "waits to be paid") != toPay {
			t.Errorf("to pay %v: the page is %s", toPay, page)
		}
	}
}
