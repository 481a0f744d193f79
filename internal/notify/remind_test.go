package notify_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/notify"
	"handover/internal/order"
)

func TestAReminderIsOneMessageAboutEverythingThatWaits(t *testing.T) {
	t.Parallel()
	var posted notify.Alert
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&posted); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	box := &mailbox{}
	notifier := notify.New(notify.Config{From: "shop@shop.test", Emails: []string{"a@owner.test"}, URL: s.URL, Sender: box})
	other := order.Key{Environment: "live", Session: "cs_live_b2"}
	longest := []notify.Waiting{
		notify.NewWaiting(key, order.ReasonEmailRefused, at.Add(-73*time.Hour), at),
		notify.NewWaiting(other, order.ReasonEmailConfig, at.Add(-25*time.Hour), at),
	}
	if err := notifier.Remind(t.Context(), longest, 23, at); err != nil {
		t.Fatal(err)
	}
	want := notify.Alert{Reason: order.ReasonStillWaiting, Next: order.ReasonStillWaiting.Remedy("ORDER"), At: at, Waiting: 23, Orders: []notify.Waiting{
		{Order: "live/cs_live_a1", Reason: order.ReasonEmailRefused, AgeSeconds: 73 * 3600,
			Next: order.ReasonEmailRefused.Remedy("live/cs_live_a1")},
		{Order: "live/cs_live_b2", Reason: order.ReasonEmailConfig, AgeSeconds: 25 * 3600, Next: order.ReasonEmailConfig.Remedy("ORDER")},
	}}
	if diff := cmp.Diff(want, posted); diff != "" {
		t.Errorf("posted (-want +got):\n%s", diff)
	}
	if len(box.taken) != 1 {
		t.Fatalf("%d emails, want one", len(box.taken))
	}
	text := strings.Join([]string{"23 orders still need you", "",
		"live/cs_live_a1", "The email provider refused the message, for 3 days", longest[0].Next, "",
		"live/cs_live_b2", "The email provider refuses the settings, for 25 h", longest[1].Next, "",
		"And 21 more.", "", "All orders that need you: starter list --attention", ""}, "\n")
	if m := box.taken[0]; m.Subject != "23 orders still need you" || m.Text != text {
		t.Errorf("subject %q, text:\n%s", m.Subject, cmp.Diff(text, m.Text))
	}
	if err := notifier.Remind(t.Context(), longest[:1], 1, at); err != nil {
		t.Fatal(err)
	}
	if m := box.taken[1]; m.Subject != "An order still needs you" || strings.Contains(m.Text, "more.") {
		t.Errorf("of one order: subject %q, text:\n%s", m.Subject, m.Text)
	}
}

func TestWhatIsAboutNoOrderNamesNone(t *testing.T) {
	t.Parallel()
	box := &mailbox{}
	notifier := notify.New(notify.Config{Emails: []string{"a@owner.test"}, Sender: box})
	if err := notifier.Notify(t.Context(), order.Key{}, order.ReasonReconcileStopped, at); err != nil {
		t.Fatal(err)
	}
	m := box.taken[0]
	if m.Subject != "Your shop needs you: The reconciliation has stopped" || !strings.Contains(m.Text, order.ReasonReconcileStopped.Remedy("ORDER")) || strings.Contains(m.Text, "\n/") {
		t.Errorf("subject %q, text:\n%s", m.Subject, m.Text)
	}
}
