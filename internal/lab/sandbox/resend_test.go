package sandbox_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/resend/resend-go/v2"

	"handover/internal/lab/sandbox"
)

func resendClient(t *testing.T, base, key string) *resend.Client {
	t.Helper()
	rc := resend.NewCustomClient(&http.Client{}, key)
	u, err := url.Parse(base + "/resend/")
	must(t, err)
	rc.BaseURL = u
	return rc
}

func mail(subject string) *resend.SendEmailRequest {
	return &resend.SendEmailRequest{
		From: "Shop <orders@example.com>", To: []string{"a@example.com"}, Subject: subject, Html: "<p>hi</p>", Text: "hi",
		ReplyTo: "help@example.com",
		Tags:    []resend.Tag{{Name: "handover_environment", Value: "test"}, {Name: "handover_session", Value: "cs_test_1"}},
	}
}

func TestResendClientSendsReadsAndLists(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{ResendKey: "re_1"})
	rc := resendClient(t, c.Base, "re_1")
	var ids []string
	for _, key := range []string{"k1", "k2", "k3"} {
		sent := made(rc.Emails.SendWithOptions(t.Context(), mail(key), &resend.SendEmailOptions{IdempotencyKey: key}))(t)
		ids = append(ids, sent.Id)
	}
	got := made(rc.Emails.GetWithContext(t.Context(), ids[0]))(t)
	if got.LastEvent != "sent" || got.Subject != "k1" || got.To[0] != "a@example.com" || got.Html != "<p>hi</p>" {
		t.Errorf("got %+v", got)
	}
	limit := 2
	page1 := made(rc.Emails.ListWithOptions(t.Context(), &resend.ListOptions{Limit: &limit}))(t)
	page2 := made(rc.Emails.ListWithOptions(t.Context(), &resend.ListOptions{Limit: &limit, After: &page1.Data[1].Id}))(t)
	back := made(rc.Emails.ListWithOptions(t.Context(), &resend.ListOptions{Limit: &limit, Before: &ids[0]}))(t)
	want := [][]string{{ids[2], ids[1]}, {ids[0]}, {ids[2], ids[1]}}
	if diff := cmp.Diff(want, [][]string{idsOf(page1), idsOf(page2), idsOf(back)}); diff != "" {
		t.Error(diff)
	}
	if !page1.HasMore || page2.HasMore || back.HasMore {
		t.Errorf("has_more: %v %v %v", page1.HasMore, page2.HasMore, back.HasMore)
	}
	messages := c.Messages()
	if len(messages) != 3 || messages[0].Key != "k1" || messages[0].Order() != "test/cs_test_1" || messages[0].ReplyTo[0] != "help@example.com" {
		t.Errorf("messages: %+v", messages)
	}
	counts := c.Counts().Emails
	if counts.Accepted != 3 || counts.ByOrder["test/cs_test_1"] != 3 {
		t.Errorf("counts: %+v", counts)
	}
}

func idsOf(l resend.ListEmailsResponse) (ids []string) {
	for _, e := range l.Data {
		ids = append(ids, e.Id)
	}
	return ids
}

const (
	bodyA = `{"from":"o@example.com","to":"a@example.com","subject":"A","text":"x"}`
	bodyB = `{"from":"o@example.com","to":["b@example.com"],"subject":"B","text":"x"}`
)

func post(t *testing.T, base, key, body string) answer {
	t.Helper()
	h := map[string]string{"Authorization": "Bearer re_1"}
	if key != "" {
		h["Idempotency-Key"] = key
	}
	return made(do(t, "POST", base+"/resend/emails", body, h))(t)
}

func (a answer) json(t *testing.T, field string) string {
	t.Helper()
	var o map[string]any
	must(t, json.Unmarshal([]byte(a.body), &o))
	s, _ := o[field].(string)
	return s
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name           string
		key1, key2     string
		body2          string
		later          time.Duration
		status         int
		err            string
		same           bool
		accepted       int
		callsUnderKey1 int
	}{
		{"same key, same payload: same id, nothing sent again", "k", "k", bodyA, 0, 200, "", true, 1, 2},
		{"same key, other payload: refused", "k", "k", bodyB, 0, 409, "invalid_idempotent_request", false, 1, 2},
		{"same key, one more space: refused", "k", "k", bodyA + " ", 0, 409, "invalid_idempotent_request", false, 1, 2},
		{"other key: sent again", "k", "l", bodyA, 0, 200, "", false, 2, 1},
		{"no key: sent again", "", "", bodyA, 0, 200, "", false, 2, 2},
		{"just inside the 24 h: same id", "k", "k", bodyA, 24*time.Hour - time.Second, 200, "", true, 1, 2},
		{"after 24 h: sent again", "k", "k", bodyA, 24 * time.Hour, 200, "", false, 2, 2},
		{"after 24 h: another payload is sent", "k", "k", bodyB, 24 * time.Hour, 200, "", false, 2, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			now := newClock()
			c := start(t, sandbox.Config{Now: now.now})
			first := post(t, c.Base, tc.key1, bodyA)
			if first.status != 200 {
				t.Fatalf("first: %d %s", first.status, first.body)
			}
			now.move(tc.later)
			second := post(t, c.Base, tc.key2, tc.body2)
			if second.status != tc.status || second.json(t, "name") != tc.err {
				t.Errorf("second: %d %s", second.status, second.body)
			}
			if same := first.json(t, "id") == second.json(t, "id"); same != tc.same {
				t.Errorf("same id: %v, want %v", same, tc.same)
			}
			counts := c.Counts().Emails
			if counts.Accepted != tc.accepted || counts.ByKey[tc.key1].Calls != tc.callsUnderKey1 {
				t.Errorf("counts: %+v", counts)
			}
		})
	}
}

func TestKeyInFlightIsRefusedThenAnswers(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	made(c.AddFault(sandbox.Fault{Target: "resend.send", Mode: "slow", Times: 1}))(t)
	first := make(chan answer, 1)
	go func() { first <- post(t, c.Base, "k", bodyA) }()
	c.await(t, sandbox.WaitFor{What: "waiting"}, 1)
	if a := post(t, c.Base, "k", bodyA); a.status != 409 || a.json(t, "name") != "concurrent_idempotent_requests" {
		t.Errorf("meanwhile: %d %s", a.status, a.body)
	}
	c.Release()
	a := <-first
	if again := post(t, c.Base, "k", bodyA); a.status != 200 || again.json(t, "id") != a.json(t, "id") {
		t.Errorf("first %d %s, again %d %s", a.status, a.body, again.status, again.body)
	}
}

func TestRefusedMessageDoesNotUseUpItsKey(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	if a := post(t, c.Base, "k", `{"from":"o@example.com"}`); a.status != 422 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := post(t, c.Base, "k", bodyA); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestResendRefusals(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{ResendKey: "re_1"})
	good := map[string]string{"Authorization": "Bearer re_1"}
	for _, tc := range []struct {
		name, body string
		header     map[string]string
		status     int
		err        string
	}{
		{"good", bodyA, good, 200, ""},
		{"no key", bodyA, nil, 401, "missing_api_key"},
		{"wrong key", bodyA, map[string]string{"Authorization": "Bearer re_2"}, 403, "invalid_api_key"},
		{"no recipient", `{"from":"o@example.com","subject":"s","text":"x"}`, good, 422, "missing_required_field"},
		{"no sender", `{"to":"a@example.com","subject":"s","text":"x"}`, good, 422, "missing_required_field"},
		{"no content", `{"from":"o@example.com","to":"a@example.com","subject":"s"}`, good, 422, "missing_required_field"},
		{"bad recipient", `{"from":"o@example.com","to":"a","subject":"s","text":"x"}`, good, 422, "validation_error"},
		{"bad sender", `{"from":"o","to":"a@example.com","subject":"s","text":"x"}`, good, 422, "invalid_from_address"},
		{"bad tag", `{"from":"o@example.com","to":"a@example.com","subject":"s","text":"x","tags":[{"name":"order","value":"test/1"}]}`, good, 422, "validation_error"},
		{"no JSON", `{"from":`, good, 400, "validation_error"},
		{"long key", bodyA, map[string]string{"Authorization": "Bearer re_1", "Idempotency-Key": strings.Repeat("k", 257)}, 400, "invalid_idempotency_key"},
	} {
		a := made(do(t, "POST", c.Base+"/resend/emails", tc.body, tc.header))(t)
		if a.status != tc.status || a.json(t, "name") != tc.err {
			t.Errorf("%s: %d %s", tc.name, a.status, a.body)
		}
	}
	a := made(do(t, "POST", c.Base+"/resend/emails", bodyA, map[string]string{"Authorization": "Bearer re_1", "User-Agent": ""}))(t)
	if a.status != http.StatusForbidden {
		t.Errorf("no User-Agent: %d %s", a.status, a.body)
	}
}

func TestRateLimitAnswersWithItsHeaders(t *testing.T) {
	t.Parallel()
	now := newClock()
	c := start(t, sandbox.Config{Now: now.now, RatePerSecond: 2})
	for _, remaining := range []string{"1", "0"} {
		if a := post(t, c.Base, "", bodyA); a.status != 200 || a.header.Get("ratelimit-remaining") != remaining {
			t.Errorf("%d, remaining %q, want %q", a.status, a.header.Get("ratelimit-remaining"), remaining)
		}
	}
	a := post(t, c.Base, "", bodyA)
	if a.status != 429 || a.json(t, "name") != "rate_limit_exceeded" || a.header.Get("retry-after") != "1" || a.header.Get("ratelimit-limit") != "2" {
		t.Errorf("%d %s %v", a.status, a.body, a.header)
	}
	_, err := resendClient(t, c.Base, "re_1").Emails.SendWithOptions(t.Context(), mail("x"), &resend.SendEmailOptions{IdempotencyKey: "k"})
	if !errors.Is(err, resend.ErrRateLimit) {
		t.Errorf("client: %v", err)
	}
	now.move(time.Second)
	if a := post(t, c.Base, "", bodyA); a.status != 200 {
		t.Errorf("a second later: %d", a.status)
	}
}
