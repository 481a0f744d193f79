package notify_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
	longest := []notify.Waiting{
		{Reference: "HO-7K3M9QXT", Reason: order.ReasonEmailRefused, Since: at.Add(-73 * time.Hour)},
		{Reference: "HO-8R5Y4KQF", Reason: order.ReasonEmailConfig, Since: at.Add(-25 * time.Hour)},
	}
	if err := notifier.Remind(t.Context(), longest, 23, at); err != nil {
		t.Fatal(err)
	}
	since, next := at.Add(-73*time.Hour), order.ReasonStillWaiting.Remedy("ORDER")
	want := notify.Alert{Reason: order.ReasonStillWaiting, Orders: 23, References: []order.Reference{"HO-7K3M9QXT", "HO-8R5Y4KQF"}, Since: &since,
		Next: next, Text: "23 orders still need you. " + next}
	if diff := cmp.Diff(want, posted, cmpopts.IgnoreUnexported(notify.Alert{})); diff != "" {
		t.Errorf("posted (-want +got):\n%s", diff)
	}
	if len(box.taken) != 1 {
		t.Fatalf("%d emails, want one", len(box.taken))
	}
	text := strings.Join([]string{"23 orders still need you", "",
		"HO-7K3M9QXT", "The email provider refused the message, for 3 days", order.ReasonEmailRefused.Remedy("HO-7K3M9QXT"), "",
		"HO-8R5Y4KQF", "The email provider refuses the settings, for 25 h", order.ReasonEmailConfig.Remedy("HO-8R5Y4KQF"), "",
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
	if err := notifier.Notify(t.Context(), order.Alert{Reason: order.ReasonReconcileStopped}, at); err != nil {
		t.Fatal(err)
	}
	m := box.taken[0]
	if m.Subject != "Your shop needs you: The reconciliation has stopped" || !strings.Contains(m.Text, order.ReasonReconcileStopped.Remedy("ORDER")) || strings.Contains(m.Text, "\n/") {
		t.Errorf("subject %q, text:\n%s", m.Subject, m.Text)
	}
}
