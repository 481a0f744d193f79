package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/email"
	"handover/internal/notify"
	"handover/internal/order"
)

var (
	key = order.Key{Environment: "live", Session: "cs_live_a1"}
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
	if err := notifier.Notify(t.Context(), key, order.ReasonEmailRefused, at); err != nil {
		t.Fatal(err)
	}
	next := order.ReasonEmailRefused.Remedy("live/cs_live_a1")
	want := notify.Alert{Order: "live/cs_live_a1", Reason: order.ReasonEmailRefused, Next: next, At: at}
	if diff := cmp.Diff(want, posted); diff != "" {
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
		return notify.New(notify.Config{Emails: []string{"a@owner.test"}, URL: url, Sender: refusing}).Notify(t.Context(), key, order.ReasonEmailConfig, at)
	}
	if err := notifyBy(there.URL); err != nil {
		t.Errorf("the POST arrived, and yet: %v", err)
	}
	err := notifyBy(away.URL + "/hook?token=secret")
	var refused *email.SendError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "HTTP 502") {
		t.Errorf("no way worked: %v", err)
	}
	gone := notify.New(notify.Config{URL: "http://127.0.0.1:1/hook?token=secret"}).Notify(t.Context(), key, order.ReasonEmailConfig, at)
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
