package crash_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/api/enums/v1"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestAPaidCheckoutBecomesAnOpenedDownloadAndAnAcceptedEmail(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(func(c *sandbox.Session) { c.Items[0].Quantity = 3 })
	s.SettledOnce(session, 1)

	m := s.Message(session)
	if diff := cmp.Diff([]string{crash.BuyerEmail}, m.To); diff != "" {
		t.Errorf("recipients (-want +got):\n%s", diff)
	}
	link, _ := s.Link(m)
	status, page := get(t, link)
	if status != http.StatusOK {
		t.Fatalf("the emailed link was answered %d", status)
	}
	inEmail := harness.Licenses(m.Text)
	onPage := harness.Licenses(page)
	slices.Sort(inEmail)
	slices.Sort(onPage)
	if len(inEmail) != 3 || len(slices.Compact(slices.Clone(inEmail))) != 3 {
		t.Errorf("%d licence keys in the email of three units, want 3 different ones", len(inEmail))
	}
	if diff := cmp.Diff(inEmail, slices.Compact(onPage)); diff != "" {
		t.Errorf("licence keys in the email and on the page (-email +page):\n%s", diff)
	}
	if got := opened(t, s, link); got != "%PDF-1.4 the guide" {
		t.Errorf("the download is %q", got)
	}
}

// opened follows the page's download as a buyer would.
func opened(t *testing.T, s *crash.Shop, link string) string {
	t.Helper()
	_, page := get(t, link)
	path := strings.TrimPrefix(link, s.PublicURL)
	start := strings.Index(page, path+"/")
	if start < 0 {
		t.Fatal("there is no download on the page")
	}
	end := strings.IndexAny(page[start:], `"' `)
	status, body := get(t, s.PublicURL+page[start:start+end])
	if status != http.StatusOK {
		t.Fatalf("the download was answered %d", status)
	}
	return body
}

// The straight path's cost creeps up unseen, so it is written down: 23 events when delivered, of which the start, three
// activities and one timer are billed (https://docs.temporal.io/cloud/actions).
func TestTheStraightPathCostsWhatItSays(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(nil)
	s.SettledOnce(session, 1)
	var events []string
	s.Eventually("the workflow listens", func() bool {
		events = nil
		for _, e := range s.History(session).Events {
			events = append(events, e.EventType.String())
		}
		return events[len(events)-1] == enums.EVENT_TYPE_TIMER_STARTED.String()
	})
	if len(events) != 23 {
		t.Errorf("%d history events when delivered, want 23:\n%s", len(events), strings.Join(events, "\n"))
	}
	billed := 0
	for _, e := range events {
		switch e {
		case "WorkflowExecutionStarted", "ActivityTaskScheduled", "TimerStarted", "WorkflowExecutionSignaled",
			"UpsertWorkflowSearchAttributes", "MarkerRecorded", "WorkflowExecutionUpdateAccepted":
			billed++
		}
	}
	if billed != 5 {
		t.Errorf("%d billed actions, want 5", billed)
	}
}

func TestNothingOfTheBuyerEntersHistoriesLogsOrMetrics(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(nil)
	s.SettledOnce(session, 1)
	if _, errs, code := s.Command("resend", "test/"+session, "--reason", "asked by telephone", "--to", "countess@elsewhere.test"); code != 0 {
		t.Fatalf("resend ended %d: %s", code, errs)
	}
	s.SettledOnce(session, 2)
	refused := s.Buy(func(c *sandbox.Session) { c.Email = "bounce@buyer.test" })
	s.SettledOnce(refused, 1)

	m := s.Message(session)
	link, token := s.Link(m)
	get(t, link)
	_, metrics := get(t, s.AdminURL+"/metrics")
	_, workerMetrics := get(t, s.WorkerURL+"/metrics")
	places := map[string]string{
		"history": s.HistoryText(session), "starter's log": s.Log("starter"), "worker's log": s.Log("worker"),
		"starter's metrics": metrics, "worker's metrics": workerMetrics,
	}
	secrets := append(harness.Licenses(m.Text), token, crash.BuyerEmail, "countess@elsewhere.test", "Lovelace", "buyer.test",
		harness.StripeSecret, "sk_test_crashtest", "re_crashtest")
	for place, text := range places {
		if !strings.Contains(text, "ConfirmPayment") && place == "history" {
			t.Fatal("the history was not decoded")
		}
		for _, secret := range secrets {
			if strings.Contains(strings.ToLower(text), strings.ToLower(secret)) {
				t.Errorf("the %s holds %q", place, secret)
			}
		}
	}
}

func TestACompletedButUnpaidSessionIsDeliveredWhenTheMoneyCame(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(func(c *sandbox.Session) { c.PaymentStatus = "unpaid" })
	s.AwaitState(session, order.CustomerProcessing)
	if _, page := get(t, s.PublicURL+"/orders/test/"+session); !strings.Contains(page, "again") || !strings.Contains(page, "days") {
		t.Error("the page does not say that it can take days and not to pay again")
	}
	if got := s.Sandbox.Counts().Emails.Accepted; got != 0 {
		t.Errorf("%d messages accepted for an unpaid session", got)
	}
	if _, err := s.Sandbox.ChangeSession(session, []byte(`{"payment_status":"paid","payment_intent":{"status":"succeeded"}}`)); err != nil {
		t.Fatal(err)
	}
	if status := s.Report(session, "checkout.session.async_payment_succeeded", ""); status != 200 {
		t.Fatalf("the second event was answered %d", status)
	}
	s.SettledOnce(session, 1)

	// The failure of the same payment, reported late, takes nothing back.
	if status := s.Report(session, "checkout.session.async_payment_failed", ""); status != 200 {
		t.Fatalf("the late event was answered %d", status)
	}
	s.SettledOnce(session, 1)
}

func TestADelayedPaymentThatFailsEndsWithAClearPage(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(func(c *sandbox.Session) { c.PaymentStatus = "unpaid" })
	s.AwaitState(session, order.CustomerProcessing)
	if status := s.Report(session, "checkout.session.async_payment_failed", ""); status != 200 {
		t.Fatalf("answered %d", status)
	}
	s.AwaitState(session, order.CustomerFailed)
	if got := s.Sandbox.Counts().Emails.Accepted; got != 0 {
		t.Errorf("%d messages accepted for a failed payment", got)
	}
}

func TestASessionWithNothingToPayIsDelivered(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(func(c *sandbox.Session) { c.PaymentStatus, c.Amount = "no_payment_required", 0 })
	s.SettledOnce(session, 1)
}

func TestWhatIsNotOursIsIgnoredAndAnswered200(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	for name, change := range map[string]func(*sandbox.Session){
		"somebody else's price": func(c *sandbox.Session) { c.Items[0].Price, c.Items[0].Product = "price_else", "prod_else" },
		"a subscription":        func(c *sandbox.Session) { c.Mode = "subscription" },
		"a setup session":       func(c *sandbox.Session) { c.Mode, c.PaymentStatus = "setup", "no_payment_required" },
	} {
		session := s.Buy(change)
		s.AwaitState(session, order.CustomerNotOurs)
		if got := s.Sandbox.Counts().Emails.ByOrder["test/"+session]; got != 0 {
			t.Errorf("%s: %d messages", name, got)
		}
	}
	out, _, code := s.Command("list", "--ignored", "--json")
	if code != 0 || strings.Count(out, `"not_ours"`) != 3 {
		t.Errorf("list --ignored ended %d:\n%s", code, out)
	}
}

func TestAfterTheCatalogueIsMendedReplayDeliversWhatWasLeftAside(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	elsewhere := sandbox.Item{Price: "price_new", Product: "prod_new", Name: "The New One", Quantity: 1}
	ignored := s.Buy(func(c *sandbox.Session) { c.Items = []sandbox.Item{elsewhere} })
	s.AwaitState(ignored, order.CustomerNotOurs)
	mixed := s.Buy(func(c *sandbox.Session) { c.Items = append(c.Items, elsewhere) })
	s.AwaitState(mixed, order.CustomerLooking)
	if out, _, code := s.Command("replay", "--ignored"); code != 0 || !strings.Contains(out, "still has no product") {
		t.Errorf("a replay before the catalogue was fixed ended %d:\n%s", code, out)
	}

	s.Worker.Stop()
	s.Reconfigure(`sold_as = ["prod_birds"]`, `sold_as = ["prod_birds", "price_new"]`)
	s.StartWorker()
	if out, errs, code := s.Command("replay", "--ignored"); code != 0 {
		t.Fatalf("replay --ignored ended %d:\n%s%s", code, out, errs)
	}
	s.SettledOnce(ignored, 1)
	if out, errs, code := s.Command("replay", "test/"+mixed); code != 0 {
		t.Fatalf("replay ended %d:\n%s%s", code, out, errs)
	}
	s.SettledOnce(mixed, 1)
	if got := len(harness.Licenses(s.Message(mixed).Text)); got != 1 {
		t.Errorf("%d licence keys, want the guide's one", got)
	}
	if _, errs, code := s.Command("replay", "test/"+mixed); code != 1 || !strings.Contains(errs, "nothing to check again") {
		t.Errorf("the replay of a settled order ended %d: %s", code, errs)
	}
}

func TestPartlyKnownItemsAndAMissingAddressWaitForAPerson(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	mixed := s.Buy(func(c *sandbox.Session) {
		c.Items = append(c.Items, sandbox.Item{Price: "price_else", Product: "prod_else", Name: "Something else", Quantity: 1})
	})
	s.AwaitState(mixed, order.CustomerLooking)
	if got := s.Status(mixed); got.Payment.State != order.PaymentConfirmed || got.Access.State != order.AccessAttention {
		t.Errorf("partly known items: payment %s, access %s", got.Payment.State, got.Access.State)
	}

	nameless := s.Buy(func(c *sandbox.Session) { c.Email, c.Name = "", "" })
	s.Eventually("access is given without an address", func() bool { return s.Status(nameless).Access.State == order.AccessGranted })
	if got := s.Status(nameless).Email.State; got != order.EmailAttention {
		t.Errorf("email without an address is %s", got)
	}
	if _, errs, code := s.Command("resend", "--to", "found@buyer.test", "test/"+nameless, "--reason", "asked the buyer"); code != 0 {
		t.Fatalf("resend --to ended %d: %s", code, errs)
	}
	s.AwaitState(nameless, order.CustomerReady)
	out, _, _ := s.Command("list", "--attention")
	if !strings.Contains(out, mixed) || strings.Contains(out, nameless) {
		t.Errorf("the attention list should hold the one order and no longer the other:\n%s", out)
	}
}

// That the buyer has it is seen by what the buyer does, and shown to the operator.
func TestWhatTheBuyerDoesIsShown(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(nil)
	s.SettledOnce(session, 1)
	link, _ := s.Link(s.Message(session))
	_, page := get(t, link)
	at := page[strings.Index(page, "/d/"):]
	if status, _ := get(t, s.PublicURL+at[:strings.IndexAny(at, `"`)]); status != http.StatusOK {
		t.Fatalf("the download is answered %d", status)
	}
	s.Eventually("it is shown", func() bool {
		out, _, _ := s.Command("status", "test/"+session)
		return strings.Contains(out, "downloaded ") && !strings.Contains(out, "link opened")
	})
}
