package crash_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// What buyers and owners of other shops have complained about, each tried on the real processes and named after the
// symptom that must not show. Those that a webhook's bytes alone bring about are in internal/web.
func TestSymptoms(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	for name, test := range map[string]func(*testing.T, *crash.Shop){
		"two emails seconds apart":                              twoEmailsSecondsApart,
		"the return page errs before the webhook":               returnPageErrsBeforeTheWebhook,
		"a body's own words grant access":                       bodysOwnWordsGrantAccess,
		"malformed UTF-8 stops an order":                        malformedUTF8StopsAnOrder,
		"a plus sign in an address becomes a space":             plusSignBecomesASpace,
		"an address in another letter case is not found":        letterCaseIsNotFound,
		"the resend goes to the old address":                    resendGoesToTheOldAddress,
		"the second purchase is refused as a duplicate":         secondPurchaseIsADuplicate,
		"a second debit while the first settles cannot be seen": secondDebitCannotBeSeen,
		"yen are shown with cents":                              yenAreShownWithCents,
		"an order that has been stuck for weeks is forgotten":   stuckOrderIsForgotten,
		"a name is run as code or shown escaped":                nameIsRunAsCode,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s.In(t))
		})
	}
}

// Two ways to one email: the checkout is reported, seconds later the payment's success, while the buyer sees the page. One
// email goes out by itself; the owner's is one more, on purpose.
func twoEmailsSecondsApart(t *testing.T, s *crash.Shop) {
	session := s.Buy(nil)
	page := s.PublicURL + "/orders/test/" + session
	get(t, page)
	s.SettledOnce(session, 1)
	reports(paidLate, harness.Completed)(t, s, session)
	get(t, page)
	s.SettledOnce(session, 1)
	if _, errs, code := s.Command("resend", "test/"+session, "--reason", "asked for"); code != 0 {
		t.Fatalf("resend ended %d: %s", code, errs)
	}
	reports(paidLate)(t, s, session)
	s.SettledOnce(session, 2)
}

// The buyer is back before the webhook, and reloads. The page waits, makes nothing and asks nobody, and what it said
// before is never shown from a cache.
func returnPageErrsBeforeTheWebhook(t *testing.T, s *crash.Shop) {
	session := s.Checkout(nil)
	page := s.PublicURL + "/orders/test/" + session
	visit := func() {
		resp, err := http.Get(page)
		must(t, err)
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK || !strings.Contains(resp.Header.Get("Cache-Control"), "no-store") {
			t.Errorf("answered %d, %s", resp.StatusCode, resp.Header.Get("Cache-Control"))
		}
	}
	visit()
	if _, text := get(t, page); !strings.Contains(text, "Waiting for payment confirmation") {
		t.Error("the page does not say what it waits for")
	}
	if got := s.Sandbox.Counts().Stripe.Retrieves[session]; got != 0 {
		t.Errorf("the page has asked the payment provider %d times", got)
	}
	if _, _, code := s.Command("status", "test/"+session); code != 3 {
		t.Error("the page has made an order")
	}
	var visits sync.WaitGroup
	visits.Go(func() { reports(harness.Completed)(t, s, session) })
	for range 50 {
		visits.Go(visit)
	}
	visits.Wait()
	s.SettledOnce(session, 1)
	if got := s.Sandbox.Counts().Stripe.Retrieves[session]; got != 1 {
		t.Errorf("%d reads of the session, want the worker's one", got)
	}
}

// A well signed event is a hint. Its own words about the payment, in whatever letter case and however often, give nothing
// that the session at the provider does not prove.
func bodysOwnWordsGrantAccess(t *testing.T, s *crash.Shop) {
	session, other := s.Checkout(unpaid), s.Checkout(unpaid)
	body := fmt.Sprintf(`{"id":"evt_words","type":"checkout.session.completed","livemode":false,"Livemode":true,"data":{"object":{
		"id":%q,"ID":%q,"object":"checkout.session","status":"complete","payment_status":"unpaid","Payment_Status":"paid","payment_status":"paid",
		"amount_total":1900,"customer_details":{"email":"thief@elsewhere.test"}}}}`, session, other)
	if got := s.Deliver(sandbox.EventRequest{Raw: body}).Statuses[0]; got != 200 {
		t.Errorf("answered %d", got)
	}
	s.AwaitState(session, order.CustomerProcessing)
	if got := s.Sandbox.Counts().Emails.ByOrder["test/"+session]; got != 0 {
		t.Errorf("%d messages for an unpaid session", got)
	}
	if got := s.Status(other).CustomerState; got != order.CustomerWaiting {
		t.Errorf("the session under the other key is %s", got)
	}
}

func malformedUTF8StopsAnOrder(t *testing.T, s *crash.Shop) {
	session := s.Checkout(nil)
	body := fmt.Sprintf(`{"id":"evt_utf8","type":"checkout.session.completed","livemode":false,"data":{"object":{"id":%q,"customer_details":{"name":"Zo%s"}}}}`,
		session, "\xff")
	if got := s.Deliver(sandbox.EventRequest{Raw: body}).Statuses[0]; got != 200 {
		t.Fatalf("answered %d", got)
	}
	s.SettledOnce(session, 1)
}

// Odd and valid addresses are kept as the buyer typed them: at the provider, in the search, and as the target of a resend.
func plusSignBecomesASpace(t *testing.T, s *crash.Shop) {
	for _, address := range []string{"a+b@odd.test", "o'neil+x@odd.test", `"a b"@odd.test`, strings.Repeat("x", 64) + "@odd.test"} {
		session := s.Buy(func(c *sandbox.Session) { c.Email = "  " + address + " " })
		s.SettledOnce(session, 1)
		if got := s.Message(session).To; !slices.Equal(got, []string{address}) {
			t.Errorf("%s: the message went to %q", address, got)
		}
		if listed := found(t, s, "--email", address); !slices.Contains(listed, "test/"+session) {
			t.Errorf("%s: not found by its address", address)
		}
		if _, errs, code := s.Command("resend", "test/"+session, "--to", address, "--reason", "typed again"); code != 0 {
			t.Errorf("%s: resend --to ended %d: %s", address, code, errs)
		}
		s.SettledOnce(session, 2)
		if got := s.Message(session).To; !slices.Equal(got, []string{address}) {
			t.Errorf("%s: the second message went to %q", address, got)
		}
	}
}

// found are the order keys of a list.
func found(t *testing.T, s *crash.Shop, choice ...string) (keys []string) {
	t.Helper()
	out, errs, code := s.Command(append([]string{"list", "--json"}, choice...)...)
	var list []struct{ Order string }
	if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil {
		t.Fatalf("list %v ended %d (%v): %s", choice, code, err, errs)
	}
	for _, one := range list {
		keys = append(keys, one.Order)
	}
	return keys
}

func letterCaseIsNotFound(t *testing.T, s *crash.Shop) {
	session := s.Buy(func(c *sandbox.Session) { c.Email = "Alex@Example-Shop.test" })
	s.SettledOnce(session, 1)
	if got := s.Message(session).To; !slices.Equal(got, []string{"Alex@Example-Shop.test"}) {
		t.Errorf("the message went to %q", got)
	}
	for _, search := range []string{"alex@example-shop.test", "ALEX@EXAMPLE-SHOP.TEST", " Alex@Example-Shop.test "} {
		if listed := found(t, s, "--email", search); !slices.Equal(listed, []string{"test/" + session}) {
			t.Errorf("searched as %q: %v", search, listed)
		}
	}
	if listed := found(t, s, "--email", "lex@example-shop.test"); len(listed) != 0 {
		t.Errorf("another address is found, too: %v", listed)
	}
}

// A mistyped address is corrected once and stays so; both are found, and the history shows the change.
func resendGoesToTheOldAddress(t *testing.T, s *crash.Shop) {
	session := s.Buy(func(c *sandbox.Session) { c.Email = "mia@naver.con.test" })
	s.SettledOnce(session, 1)
	for _, args := range [][]string{{"--to", "mia@naver.com.test", "--reason", "mistyped"}, {"--reason", "still in the spam folder"}} {
		if _, errs, code := s.Command(append([]string{"resend", "test/" + session}, args...)...); code != 0 {
			t.Fatalf("resend ended %d: %s", code, errs)
		}
	}
	s.SettledOnce(session, 3)
	if got := s.Message(session).To; !slices.Equal(got, []string{"mia@naver.com.test"}) {
		t.Errorf("the third message went to %q", got)
	}
	for _, address := range []string{"mia@naver.con.test", "mia@naver.com.test"} {
		if listed := found(t, s, "--email", address); !slices.Equal(listed, []string{"test/" + session}) {
			t.Errorf("searched as %q: %v", address, listed)
		}
	}
	status, _, _ := s.Command("status", "test/"+session)
	if !strings.Contains(status, "mistyped") || strings.Count(status, "to m•") < 3 {
		t.Errorf("the status does not show the three messages and why:\n%s", status)
	}
}

// A purchase is the session: the same buyer may buy the same product again, for a friend, at the same moment.
func secondPurchaseIsADuplicate(t *testing.T, s *crash.Shop) {
	first, second := s.Buy(nil), s.Buy(nil)
	s.SettledOnce(first, 1)
	s.SettledOnce(second, 1)
	a, b := harness.Licenses(s.Message(first).Text), harness.Licenses(s.Message(second).Text)
	if len(a) != 1 || len(b) != 1 || a[0] == b[0] {
		t.Error("the two purchases do not have a key each")
	}
	if first, second := s.Message(first), s.Message(second); first.Key == second.Key {
		t.Error("the two emails have one key")
	}
}

// While a bank debit settles the page asks not to pay again. Where somebody does, the owner sees both.
func secondDebitCannotBeSeen(t *testing.T, s *crash.Shop) {
	debit := func(c *sandbox.Session) { c.PaymentStatus, c.Email = "unpaid", "debtor@buyer.test" }
	first, second := s.Buy(debit), s.Buy(debit)
	for _, session := range []string{first, second} {
		s.AwaitState(session, order.CustomerProcessing)
		if _, page := get(t, s.PublicURL+"/orders/test/"+session); !strings.Contains(page, "do not pay again") || !strings.Contains(page, "days") {
			t.Error("the page does not say that it takes days, and not to pay again")
		}
	}
	for _, choice := range [][]string{{"--pending"}, {"--email", "debtor@buyer.test"}} {
		if listed := found(t, s, choice...); !slices.Contains(listed, "test/"+first) || !slices.Contains(listed, "test/"+second) {
			t.Errorf("list %v does not show both: %v", choice, listed)
		}
	}
}

// Amounts are whole numbers of the currency's smallest unit as the provider counts it, and are shown as people write them.
func yenAreShownWithCents(t *testing.T, s *crash.Shop) {
	for currency, c := range map[string]struct {
		minor int64
		shown string
	}{
		"jpy": {800, "¥800,"}, "kwd": {800, "KWD 0.800,"}, "eur": {1900, "€19.00,"}, "isk": {80000, "ISK 800.00,"}, "huf": {80000, "HUF 800.00,"},
	} {
		session := s.Buy(func(o *sandbox.Session) { o.Currency, o.Amount = currency, c.minor })
		s.SettledOnce(session, 1)
		if out, _, _ := s.Command("status", "test/"+session); !strings.Contains(out, " "+c.shown) {
			t.Errorf("%d %s is not shown as %q:\n%s", c.minor, currency, c.shown, out)
		}
	}
}

// What cannot heal by itself stays on the list however old it is, first of all, with its age and the reason.
func stuckOrderIsForgotten(t *testing.T, s *crash.Shop) {
	session := s.Buy(func(c *sandbox.Session) {
		c.Items = append(c.Items, sandbox.Item{Price: "price_else", Product: "prod_else"})
	})
	s.AwaitState(session, order.CustomerLooking)
	s.Exec(`UPDATE orders SET created_at = created_at - interval '40 days' WHERE session = $1`, session)
	s.Exec(`UPDATE attention SET since = since - interval '37 days' WHERE session = $1`, session)
	out, _, code := s.Command("list", "--attention", "--json")
	var list []struct {
		Order          string
		AgeSeconds     int64 `json:"age_seconds"`
		WaitingSeconds int64 `json:"waiting_seconds"`
		Reason, Next   string
	}
	if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil || len(list) == 0 {
		t.Fatalf("list --attention ended %d (%v):\n%s", code, err, out)
	}
	const day = 24 * 60 * 60
	if oldest := list[0]; oldest.Order != "test/"+session || oldest.AgeSeconds < 40*day || oldest.WaitingSeconds < 37*day || oldest.Reason == "" || oldest.Next == "" {
		t.Errorf("the oldest is listed as %+v", oldest)
	}
}

// A buyer's name is text: escaped where HTML is read, as it is where text is read, and no template anywhere.
func nameIsRunAsCode(t *testing.T, s *crash.Shop) {
	for _, name := range []string{`<a href="https://evil.test">Claim</a>`, `Tom & "Jerry" <3`, `{{.}} {{7*7}}`, "Zoë\r\nBcc: all@evil.test\x1b[2J"} {
		session := s.Buy(func(c *sandbox.Session) { c.Name, c.Items[0].Name = name, name })
		s.SettledOnce(session, 1)
		m := s.Message(session)
		_, page := get(t, s.PublicURL+"/orders/test/"+session)
		out, _, _ := s.Command("status", "test/"+session)
		for place, markup := range map[string]string{"email": m.HTML, "page": page} {
			if strings.Contains(markup, `<a href="https://evil.test`) || strings.Contains(markup, "<3") {
				t.Errorf("%q is run as code in the %s", name, place)
			}
		}
		for place, text := range map[string]string{"subject": m.Subject, "email's text": m.Text, "terminal": out} {
			if strings.Contains(text, "&amp;") || strings.Contains(text, "&#34;") || strings.Contains(text, "&lt;") {
				t.Errorf("%q is shown escaped in the %s", name, place)
			}
			if strings.ContainsAny(text, "\r\x1b") || strings.Contains(text, "\nBcc:") {
				t.Errorf("%q breaks the line in the %s", name, place)
			}
		}
		if strings.HasPrefix(name, "Tom") || strings.HasPrefix(name, "{{") {
			if !strings.Contains(m.Text, name) || !strings.Contains(m.HTML, html.EscapeString(name)) {
				t.Errorf("%q is not in the email as it was typed", name)
			}
		}
	}
}
