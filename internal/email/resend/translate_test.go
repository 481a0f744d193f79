package resend_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/email"
	"handover/internal/order"
)

func event(kind, data string) string {
	return fmt.Sprintf(`{"type":%q,"created_at":"2026-03-02T10:00:00.250Z","data":{"email_id":"9af6-01","to":["private@example.com"]%s}}`, kind, data)
}

func TestTheTypeDecidesWhatAnEventIsEvidenceOf(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]order.Delivery{
		"email.sent":             order.DeliverySent,
		"email.delivered":        order.DeliveryDelivered,
		"email.delivery_delayed": order.DeliveryDelayed,
		"email.bounced":          order.DeliveryBounced,
		"email.complained":       order.DeliveryComplained,
		"email.failed":           order.DeliveryFailed,
		"email.suppressed":       order.DeliverySuppressed,
		"email.opened":           order.DeliveryNone,
		"email.clicked":          order.DeliveryNone,
		"email.scheduled":        order.DeliveryNone,
		"email.received":         order.DeliveryNone,
		"email.something_new":    order.DeliveryNone,
		"Email.Delivered":        order.DeliveryNone,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			got, err := provider(t, nil).Translate("msg_1", []byte(event(kind, "")))
			if err != nil {
				t.Fatal(err)
			}
			if got.Delivery != want {
				t.Errorf("delivery %q, want %q", got.Delivery, want)
			}
		})
	}
}

func TestEveryShapeOfAnEventIsRead(t *testing.T) {
	t.Parallel()
	base := order.EmailEvent{
		ID: "msg_1", Type: "email.bounced", MessageID: "9af6-01", Delivery: order.DeliveryBounced,
		OccurredAt: time.Date(2026, 3, 2, 10, 0, 0, 250e6, time.UTC),
	}
	tagged := map[string]string{"handover_environment": "live", "handover_session": "cs_live_a1"}
	for _, test := range []struct {
		name, data, detail string
		tags               map[string]string
	}{
		{"only a message", `,"bounce":{"message":"private"}`, "", nil},
		{"no bounce", ``, "", nil},
		{"bounce null", `,"bounce":null`, "", nil},
		{"bounce a text", `,"bounce":"Permanent"`, "", nil},
		{"permanent", `,"bounce":{"type":"Permanent","subType":"General","message":"private","diagnosticCode":["550 private"]}`, "permanent", nil},
		{"transient, in capitals", `,"bounce":{"type":"TRANSIENT","subType":"MailboxFull"}`, "transient", nil},
		{"undetermined", `,"bounce":{"type":"Undetermined"}`, "undetermined", nil},
		{"hard", `,"bounce":{"type":"hard","subType":"permanent"}`, "hard", nil},
		{"known only as subtype", `,"bounce":{"type":"private","subType":"Permanent"}`, "permanent", nil},
		{"an unknown word", `,"bounce":{"type":"private@example.com"}`, "", nil},
		{"tags an object", `,"tags":{"handover_environment":"live","handover_session":"cs_live_a1"}`, "", tagged},
		{"tags a list", `,"tags":[{"name":"handover_environment","value":"live"},{"name":"handover_session","value":"cs_live_a1"}]`, "", tagged},
		{"tags that are none", `,"tags":{"handover_environment":"live","handover_session":"cs_live_a1","a b":"x","n":7,"e":"","p":"private@example.com"}`, "", tagged},
		{"list elements that are none", `,"tags":[1,null,{"name":"handover_environment","value":"live"},{"value":"x"},{"name":"handover_session","value":"cs_live_a1"}]`, "", tagged},
		{"tags null", `,"tags":null`, "", nil},
		{"tags a text", `,"tags":"live"`, "", nil},
		{"headers a list", `,"headers":[{"name":"Reply-To","value":"x"}]`, "", nil},
		{"headers an object", `,"headers":{"Reply-To":"x"}`, "", nil},
		{"keys in another letter case", `,"Email_ID":"other","Bounce":{"type":"Permanent"}`, "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			want := base
			want.Detail, want.Tags = test.detail, test.tags
			got, err := provider(t, nil).Translate("msg_1", []byte(event("email.bounced", test.data)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
			if strings.Contains(fmt.Sprint(got), "private") {
				t.Errorf("the event holds what it must not: %+v", got)
			}
		})
	}
}

func TestASuppressionSaysWhy(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		`,"suppressed":{"type":"Suppressed","reason":"previous_bounce"}`:                  "previous_bounce",
		`,"suppressed":{"type":"OnAccountSuppressionList","reason":"previous_complaint"}`: "previous_complaint",
		`,"suppressed":{"type":"OnAccountSuppressionList"}`:                               "onaccountsuppressionlist",
		`,"suppressed":{"reason":"private@example.com"}`:                                  "",
		``: "",
	} {
		got, err := provider(t, nil).Translate("msg_1", []byte(event("email.suppressed", data)))
		if err != nil || got.Detail != want {
			t.Errorf("%s: detail %q, error %v; want %q", data, got.Detail, err, want)
		}
	}
}

func TestEitherWayOfWritingATimeIsRead(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]time.Time{
		`"2026-03-02T10:00:00Z"`:             time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC),
		`"2026-03-02T11:00:00.5+01:00"`:      time.Date(2026, 3, 2, 10, 0, 0, 5e8, time.UTC),
		`"2026-03-02 10:00:00.894719+00"`:    time.Date(2026, 3, 2, 10, 0, 0, 894719000, time.UTC),
		`"2026-03-02T10:00:00.894719+00:00"`: time.Date(2026, 3, 2, 10, 0, 0, 894719000, time.UTC),
		`"yesterday"`:                        {},
		`1772445600`:                         {},
		`null`:                               {},
	} {
		body := `{"type":"email.sent","data":{"email_id":"9af6-01"},"created_at":` + written + `}`
		got, err := provider(t, nil).Translate("msg_1", []byte(body))
		if err != nil || !got.OccurredAt.Equal(want) {
			t.Errorf("%s: %v, error %v; want %v", written, got.OccurredAt, err, want)
		}
	}
}

func TestAnEventOfAnotherSubjectIsNoEvidence(t *testing.T) {
	t.Parallel()
	got, err := provider(t, nil).Translate("msg_1", []byte("\xef\xbb\xbf"+`{"type":"domain.updated","data":{"id":"d1"}}`))
	want := order.EmailEvent{ID: "msg_1", Type: "domain.updated"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, event (-want +got):\n%s", err, diff)
	}
}

func TestWhatResendDoesNotSendIsMalformed(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"empty":               ``,
		"broken":              `{"type":"email.sent"`,
		"something behind":    event("email.sent", "") + "[",
		"a list":              `[]`,
		"null":                `null`,
		"no type":             `{"data":{"email_id":"9af6-01"}}`,
		"type a number":       `{"type":1,"data":{"email_id":"9af6-01"}}`,
		"type with a space":   event("email sent", ""),
		"type too long":       event("email."+strings.Repeat("t", 256), ""),
		"no data":             `{"type":"email.sent"}`,
		"data a list":         `{"type":"email.sent","data":[]}`,
		"no email id":         `{"type":"email.sent","data":{}}`,
		"email id null":       `{"type":"email.sent","data":{"email_id":null}}`,
		"email id a number":   `{"type":"email.sent","data":{"email_id":7}}`,
		"email id an address": `{"type":"email.sent","data":{"email_id":"a@example.com"}}`,
		"opened without one":  `{"type":"email.opened","data":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if e, err := provider(t, nil).Translate("msg_1", []byte(body)); !errors.Is(err, email.ErrMalformed) {
				t.Errorf("event %+v, error %v; want ErrMalformed", e, err)
			}
		})
	}
}

func FuzzTranslate(f *testing.F) {
	p := provider(f, nil)
	f.Add([]byte(event("email.bounced", `,"bounce":{"type":"Permanent"},"tags":{"a":"b"}`)))
	f.Add([]byte(event("email.suppressed", `,"suppressed":{"reason":"previous_bounce"},"tags":[{"name":"a","value":"b"}]`)))
	f.Add([]byte("\xef\xbb\xbf{\"type\":\"domain.created\"}"))
	id := regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)
	word := regexp.MustCompile(`^[a-z_]*$`)
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := p.Translate("msg_1", body)
		if err != nil {
			if !errors.Is(err, email.ErrMalformed) {
				t.Fatalf("error %v, want ErrMalformed", err)
			}
			return
		}
		if e.ID != "msg_1" || e.Type == "" || strings.HasPrefix(e.Type, "email.") != id.MatchString(e.MessageID) {
			t.Fatalf("event %+v", e)
		}
		if !word.MatchString(e.Detail) {
			t.Fatalf("detail %q", e.Detail)
		}
		for name, value := range e.Tags {
			if !id.MatchString(name) || !id.MatchString(value) {
				t.Fatalf("tag %q: %q", name, value)
			}
		}
	})
}
