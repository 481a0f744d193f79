package resend_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"handover/internal/email"
	"handover/internal/email/resend"
	"handover/internal/finding"
)

func TestInspectJudgesKeyAndDomain(t *testing.T) {
	t.Parallel()
	domain := func(status string) string {
		return `{"object":"list","has_more":false,"data":[{"id":"1","name":"other.example","status":"verified"},{"id":"2","name":"Example.com","status":"` + status + `"}]}`
	}
	const from = "Example Shop <orders@example.com>"
	for name, c := range map[string]struct {
		from   string
		status int
		body   string
		key    string // state and a part of the text; empty for no such line
		domain string
	}{
		"verified":           {from, 200, domain("verified"), "ok: takes the key", "ok: example.com is verified"},
		"bare address":       {"orders@EXAMPLE.com", 200, domain("verified"), "ok: takes the key", "ok: example.com is verified"},
		"pending":            {from, 200, domain("pending"), "ok: takes the key", "failure: pending"},
		"failed":             {from, 200, domain("failed"), "ok: takes the key", "failure: not found"},
		"lost":               {from, 200, domain("temporary_failure"), "ok: takes the key", "failure: not found any more"},
		"a word of tomorrow": {from, 200, domain("private_text"), "ok: takes the key", "failure: not known here"},
		"not there":          {"orders@example.org", 200, domain("verified"), "ok: takes the key", "failure: example.org is not among"},
		"only its parent":    {"orders@mail.example.com", 200, domain("verified"), "ok: takes the key", "failure: mail.example.com is not among"},
		"none at all":        {from, 200, `{"object":"list","data":[]}`, "ok: takes the key", "failure: is not among"},
		"Resend's own":       {"onboarding@resend.dev", 200, domain("verified"), "ok: takes the key", "failure: to the account's owner only"},
		"may only send":      {from, 401, `{"name":"restricted_api_key","message":"private_text"}`, "ok: may only send", "warning: cannot be seen"},
		"wrong key":          {from, 403, `{"name":"invalid_api_key","message":"private_text"}`, "failure: refuses the key", ""},
		"missing key":        {from, 401, `{"name":"missing_api_key","message":"private_text"}`, "failure: refuses the key", ""},
		"wrong key, newer":   {from, 400, `{"name":"validation_error","message":"private_text"}`, "failure: refuses the key", ""},
		"rate limit":         {from, 429, `{"name":"rate_limit_exceeded","message":"private_text"}`, "warning: come back later", ""},
		"down":               {from, 500, `private_text`, "failure: HTTP 500", ""},
		"not Resend":         {from, 200, `<html>private_text`, "failure: without a usable body", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != "/domains" || r.Header.Get("Authorization") != "Bearer re_inspected" {
					t.Errorf("%s %s", r.Method, r.URL.Path)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			}))
			t.Cleanup(server.Close)
			p, err := resend.New(resend.Config{APIKey: "re_inspected", APIURL: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			found := p.Inspect(t.Context(), c.from)
			for name, want := range map[string]string{email.FindingKey: c.key, email.FindingDomain: c.domain} {
				if got := line(found, name); want == "" && got != "" || !fits(got, want) {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			if all, err := json.Marshal(found); err != nil || strings.Contains(string(all), "private_text") || strings.Contains(string(all), "re_inspected") {
				t.Errorf("the response's text or the key is repeated: %s", all)
			}
		})
	}
}

func line(found []finding.Finding, name string) string {
	for _, f := range found {
		if f.Name == name {
			return string(f.State) + ": " + f.Says
		}
	}
	return ""
}

func fits(got, want string) bool {
	state, part, _ := strings.Cut(want, ": ")
	return strings.HasPrefix(got, state) && strings.Contains(got, part)
}

func TestInspectReadsEveryPageOfDomains(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("after") == "" {
			fmt.Fprint(w, `{"has_more":true,"data":[{"id":"first","name":"other.example","status":"verified"}]}`)
			return
		}
		if got := r.URL.Query().Get("after"); got != "first" {
			t.Errorf("after %q", got)
		}
		fmt.Fprint(w, `{"has_more":false,"data":[{"id":"second","name":"example.com","status":"verified"}]}`)
	}))
	t.Cleanup(server.Close)
	p, err := resend.New(resend.Config{APIKey: "re_inspected", APIURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if got := line(p.Inspect(t.Context(), "orders@example.com"), email.FindingDomain); !strings.HasPrefix(got, "ok") {
		t.Errorf("%q", got)
	}
}
