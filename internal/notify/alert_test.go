package notify_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"handover/internal/email"
	"handover/internal/notify"
	"handover/internal/order"
	"handover/internal/setting"
)

var (
	one = order.Alert{Reason: order.ReasonEmailRefused, Orders: 1, References: []order.Reference{"HO-7K3M9QXT"}, Since: at.Add(-time.Minute)}
	at  = time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
)

// mailbox takes messages, or refuses them.
type mailbox struct {
	refuse error
	keys   []string
	taken  []order.Message
}

func (m *mailbox) Send(_ context.Context, key string, message order.Message) (string, error) {
	if m.refuse != nil {
		return "", m.refuse
	}
	m.keys, m.taken = append(m.keys, key), append(m.taken, message)
	return "re_1", nil
}

func TestAnAlertGoesByEveryConfiguredWay(t *testing.T) {
	t.Parallel()
	var posted notify.Alert
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&posted); err != nil || r.Method != http.MethodPost {
			t.Errorf("%s: %v", r.Method, err)
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(s.Close)
	box := &mailbox{}
	notifier := notify.New(notify.Config{From: "shop@shop.test", Emails: []string{"a@owner.test", "b@owner.test"}, URL: s.URL, Sender: box})
	if err := notifier.Notify(t.Context(), one, at); err != nil {
		t.Fatal(err)
	}
	next := order.ReasonEmailRefused.Remedy("HO-7K3M9QXT")
	since := at.Add(-time.Minute)
	want := notify.Alert{Reason: order.ReasonEmailRefused, Orders: 1, References: one.References, Since: &since, Next: next,
		Text: "An order needs you: The email provider refused the message. " + next}
	if diff := cmp.Diff(want, posted, cmpopts.IgnoreUnexported(notify.Alert{})); diff != "" {
		t.Errorf("posted (-want +got):\n%s", diff)
	}
	if len(box.taken) != 2 || box.taken[0].To != "a@owner.test" || box.taken[1].To != "b@owner.test" || box.keys[0] == box.keys[1] {
		t.Fatalf("emails %+v under %v", box.taken, box.keys)
	}
	if m := box.taken[0]; m.Subject != "An order needs you: The email provider refused the message" || !strings.Contains(m.Text, next) {
		t.Errorf("the email does not say what to do: %s\n%s", m.Subject, m.Text)
	}
}

func TestOneWayThatWorksIsEnoughAndNoneIsAnError(t *testing.T) {
	t.Parallel()
	refusing := &mailbox{refuse: &email.SendError{Status: 401}}
	away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	t.Cleanup(away.Close)
	there := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(there.Close)
	notifyBy := func(url string) error {
		return notify.New(notify.Config{Emails: []string{"a@owner.test"}, URL: url, Sender: refusing}).Notify(t.Context(), order.Alert{Reason: order.ReasonEmailConfig}, at)
	}
	if err := notifyBy(there.URL); err != nil {
		t.Errorf("the POST arrived, and yet: %v", err)
	}
	err := notifyBy(away.URL + "/hook?token=secret")
	var refused *email.SendError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "HTTP 502") {
		t.Errorf("no way worked: %v", err)
	}
	gone := notify.New(notify.Config{URL: "http://127.0.0.1:1/hook?token=secret"}).Notify(t.Context(), order.Alert{Reason: order.ReasonEmailConfig}, at)
	if gone == nil || strings.Contains(gone.Error(), "secret") || strings.Contains(gone.Error(), "owner.test") {
		t.Errorf("without an answer: %v", gone)
	}
}

func TestWithoutRecipientsNothingIsConfigured(t *testing.T) {
	t.Parallel()
	if notify.New(notify.Config{}).Configured() {
		t.Error("an empty configuration has a recipient")
	}
}

// Chat services show the text; other programs read the names of the fields.
func TestAlertAboutManyOrdersIsOneMessage(t *testing.T) {
	t.Parallel()
	var posted map[string]any
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&posted); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	box := &mailbox{}
	notifier := notify.New(notify.Config{Emails: []string{"a@owner.test"}, URL: s.URL, Sender: box})
	many := order.Alert{Reason: order.ReasonPaymentStopped, Orders: 312, References: []order.Reference{"HO-7K3M9QXT", "HO-8R5Y4KQF"}, Since: at}
	if err := notifier.Notify(t.Context(), many, at); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"reason": "payment_not_retrievable", "orders": 312.0, "references": []any{"HO-7K3M9QXT", "HO-8R5Y4KQF"}, "since": "2026-11-30T03:00:00Z",
		"next": order.ReasonPaymentStopped.Remedy("ORDER"),
		"text": "312 orders need you: The payment could not be retrieved. " + order.ReasonPaymentStopped.Remedy("ORDER"),
	}
	if diff := cmp.Diff(want, posted); diff != "" {
		t.Errorf("posted (-want +got):\n%s", diff)
	}
	if m := box.taken[0]; m.Subject != "312 orders need you: The payment could not be retrieved" || !strings.Contains(m.Text, "HO-8R5Y4KQF\nAnd 310 more.\n") {
		t.Errorf("subject %q, text:\n%s", m.Subject, m.Text)
	}
}

// What receives alerts can check who sent them, and a redirect leads them nowhere else.
func TestPostIsSignedAndFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	key, err := setting.SigningKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	hits := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits++ }))
	t.Cleanup(elsewhere.Close)
	var header http.Header
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body)
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(s.Close)
	err = notify.New(notify.Config{URL: s.URL, Key: key}).Notify(t.Context(), order.Alert{Reason: order.ReasonEmailConfig}, at)
	if err == nil || hits != 0 {
		t.Errorf("a redirect was followed %d times: %v", hits, err)
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", header.Get("webhook-id"), header.Get("webhook-timestamp"), body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); header.Get("webhook-signature") != want || header.Get("webhook-timestamp") != fmt.Sprint(at.Unix()) || header.Get("webhook-id") == "" {
		t.Errorf("header %v", header)
	}
}
