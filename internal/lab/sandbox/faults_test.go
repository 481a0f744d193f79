package sandbox_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"handover/internal/lab/sandbox"
)

// try posts an email in the background and says how it went.
func try(ctx context.Context, base, key string) <-chan error {
	done := make(chan error, 1)
	go func() {
		req, err := http.NewRequestWithContext(ctx, "POST", base+"/resend/emails", strings.NewReader(bodyA))
		if err != nil {
			done <- err
			return
		}
		req.Header.Set("Authorization", "Bearer re_1")
		if key != "" {
			req.Header["Idempotency-Key"] = []string{key}
		}
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	return done
}

func accepted(t *testing.T, c shop) int {
	t.Helper()
	return c.Counts().Emails.Accepted
}

func TestRefusalsDoNothing(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		fault  sandbox.Fault
		status int
		err    string
		wait   string
	}{
		{"default", sandbox.Fault{Mode: "refuse"}, 500, "internal_server_error", ""},
		{"named", sandbox.Fault{Mode: "refuse", Status: 503, Name: "service_unavailable", RetryAfter: 7}, 503, "service_unavailable", "7"},
		{"rate limit", sandbox.Fault{Mode: "rate_limit"}, 429, "rate_limit_exceeded", "1"},
		{"quota", sandbox.Fault{Mode: "rate_limit", Name: "daily_quota_exceeded", RetryAfter: 60}, 429, "daily_quota_exceeded", "60"},
		{"success without an id", sandbox.Fault{Mode: "refuse", Status: 200, Body: "{}"}, 200, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := start(t, sandbox.Config{})
			tc.fault.Target, tc.fault.Times = "resend.*", 1
			made(c.AddFault(tc.fault))(t)
			a := post(t, c.Base, "k", bodyA)
			if a.status != tc.status || a.json(t, "name") != tc.err || a.header.Get("retry-after") != tc.wait {
				t.Errorf("%d %s %v", a.status, a.body, a.header)
			}
			if n := accepted(t, c); n != 0 {
				t.Errorf("%d accepted", n)
			}
			if a := post(t, c.Base, "k", bodyA); a.status != 200 || a.json(t, "id") == "" {
				t.Errorf("after it: %d %s", a.status, a.body)
			}
			if k := c.Counts().Emails.ByKey["k"]; k.Calls != 2 || k.Accepted != 1 || k.Bodies != 1 || len(k.SHA256) != 1 {
				t.Errorf("counts: %+v", k)
			}
		})
	}
}

func TestHangAnswersNothingAndDoesNothing(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	made(c.AddFault(sandbox.Fault{Target: "resend.send", Mode: "hang"}))(t)
	ctx, leave := context.WithCancel(t.Context())
	left, released := try(ctx, c.Base, "left"), try(t.Context(), c.Base, "released")
	c.await(t, sandbox.WaitFor{What: "waiting"}, 2)
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the client that left: %v", err)
	}
	c.ClearFaults()
	if err := <-released; err == nil {
		t.Error("the released request was answered")
	}
	if n := accepted(t, c); n != 0 {
		t.Errorf("%d accepted", n)
	}
}

func TestDropDoesItAndLosesTheAnswer(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	f := made(c.AddFault(sandbox.Fault{Target: "resend.send", Mode: "drop", Times: 1}))(t)
	if err := <-try(t.Context(), c.Base, "k"); err == nil {
		t.Fatal("the request was answered")
	}
	c.await(t, sandbox.WaitFor{What: "fired", Fault: f.ID}, 1)
	if n := accepted(t, c); n != 1 {
		t.Errorf("%d accepted, want 1", n)
	}
	messages := c.Messages()
	if a := post(t, c.Base, "k", bodyA); a.status != 200 || a.json(t, "id") != messages[0].ID {
		t.Errorf("again: %d %s", a.status, a.body)
	}
	if n := accepted(t, c); n != 1 {
		t.Errorf("%d accepted after the repetition", n)
	}
}

func TestHoldDoesItAndKeepsTheAnswer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		fault    sandbox.Fault
		answered bool
	}{
		{sandbox.Fault{Hold: true}, true},
		{sandbox.Fault{Mode: "late", Hold: true}, true},
		{sandbox.Fault{Mode: "drop", Hold: true}, false},
	} {
		t.Run("mode "+tc.fault.Mode, func(t *testing.T) {
			t.Parallel()
			c := start(t, sandbox.Config{})
			tc.fault.Target, tc.fault.Match, tc.fault.Times = "resend.send", "held", 1
			made(c.AddFault(tc.fault))(t)
			if a := post(t, c.Base, "other", bodyA); a.status != 200 {
				t.Fatalf("a key that does not match: %d", a.status)
			}
			done := try(t.Context(), c.Base, "held/1")
			c.await(t, sandbox.WaitFor{What: "accepted", Key: "held/1"}, 1)
			c.await(t, sandbox.WaitFor{What: "waiting"}, 1)
			// It is done: a second caller gets the same message at once.
			if a := post(t, c.Base, "held/1", bodyA); a.status != 200 {
				t.Errorf("meanwhile: %d %s", a.status, a.body)
			}
			select {
			case err := <-done:
				t.Errorf("answered before the release: %v", err)
			default:
			}
			c.Release()
			if err := <-done; (err == nil) != tc.answered {
				t.Errorf("after the release: %v", err)
			}
			if n := accepted(t, c); n != 2 {
				t.Errorf("%d accepted, want 2", n)
			}
		})
	}
}

func TestLateAnswerComesAfterItsDelay(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	made(c.AddFault(sandbox.Fault{Target: "stripe.session", Mode: "late", DelayMS: 60}))(t)
	sess := made(c.CreateSession(sandbox.Session{}))(t)
	began := time.Now()
	a := made(do(t, "GET", c.Base+"/v1/checkout/sessions/"+sess.ID, "", map[string]string{"Authorization": "Bearer k"}))(t)
	if took := time.Since(began); a.status != 200 || took < 60*time.Millisecond {
		t.Errorf("HTTP %d after %s", a.status, took)
	}
	if got := c.Faults(); len(got) != 1 || got[0].Fired != 1 || got[0].Waiting != 0 {
		t.Errorf("faults: %+v", got)
	}
}

func TestFaultCatchesOnlyItsTarget(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	sess := made(c.CreateSession(sandbox.Session{}))(t)
	made(c.AddFault(sandbox.Fault{Target: "stripe.line_items", Mode: "refuse", Status: 503}))(t)
	auth := map[string]string{"Authorization": "Bearer k"}
	one, two := c.Base+"/v1/checkout/sessions/"+sess.ID, c.Base+"/v1/checkout/sessions/"+sess.ID+"/line_items"
	if a := made(do(t, "GET", one, "", auth))(t); a.status != 200 {
		t.Errorf("session: %d", a.status)
	}
	for range 2 {
		if a := made(do(t, "GET", two, "", auth))(t); a.status != 503 || !strings.Contains(a.body, `"api_error"`) {
			t.Errorf("line items: %d %s", a.status, a.body)
		}
	}
	c.ClearFaults()
	if a := made(do(t, "GET", two, "", auth))(t); a.status != 200 {
		t.Errorf("cleared: %d", a.status)
	}
}

func TestCloseLetsGoOfHangingRequests(t *testing.T) {
	t.Parallel()
	s, err := sandbox.New(sandbox.Config{})
	must(t, err)
	server := serve(t, s)
	made(s.AddFault(sandbox.Fault{Target: "*", Mode: "hang"}))(t)
	done := try(t.Context(), server, "k")
	if _, reached := s.Wait(t.Context(), sandbox.WaitFor{What: "waiting"}, 1); !reached {
		t.Fatal("nothing hangs")
	}
	must(t, s.Close())
	if err := <-done; err == nil {
		t.Error("answered")
	}
}
