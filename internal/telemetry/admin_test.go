package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

func get(t *testing.T, h http.Handler, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
	return w
}

func passes(context.Context) error { return nil }

func TestReadinessTellsOnlySafeWords(t *testing.T) {
	t.Parallel()
	fails := func(err error) func(context.Context) error {
		return func(context.Context) error { return err }
	}
	for name, c := range map[string]struct {
		checks []Check
		status int
		want   readiness
	}{
		"no checks": {nil, 200, readiness{true, map[string]string{}}},
		"all well": {
			[]Check{{"database", passes}, {"temporal", passes}},
			200, readiness{true, map[string]string{"database": "ok", "temporal": "ok"}},
		},
		"one fails": {
			[]Check{{"database", fails(errors.New("postgres://shop:hunter2@db refused"))}, {"temporal", passes}},
			503, readiness{false, map[string]string{"database": "failed", "temporal": "ok"}},
		},
		"a word of ours": {
			[]Check{{"pollers", fails(fmt.Errorf("queue hunter2: %w", Word("no_pollers")))}},
			503, readiness{false, map[string]string{"pollers": "no_pollers"}},
		},
		"a timeout of its own": {
			[]Check{{"database", fails(fmt.Errorf("hunter2: %w", context.DeadlineExceeded))}},
			503, readiness{false, map[string]string{"database": "timed_out"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := get(t, AdminHandler(prometheus.NewRegistry(), c.checks), "GET", "/readyz")
			var got readiness
			body := w.Body.String()
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatal(err)
			}
			if w.Code != c.status {
				t.Errorf("status %d; want %d", w.Code, c.status)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("answer differs (-want +got):\n%s", diff)
			}
			if strings.Contains(body, "hunter2") {
				t.Errorf("the error's text is shown: %s", body)
			}
		})
	}
}

func TestChecksRunAtOnceAndAreNotWaitedForLonger(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	first, second := make(chan struct{}), make(chan struct{})
	meets := func(mine, other chan struct{}) func(context.Context) error {
		return func(ctx context.Context) error {
			close(mine)
			select {
			case <-other:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	checks := []Check{
		{"deaf", func(context.Context) error { <-release; return nil }},
		{"first", meets(first, second)},
		{"second", meets(second, first)},
	}
	w := get(t, adminHandler(prometheus.NewRegistry(), checks, 100*time.Millisecond), "GET", "/readyz")
	want := `{"ready":false,"checks":{"deaf":"timed_out","first":"ok","second":"ok"}}` + "\n"
	if got := w.Body.String(); got != want || w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d %s; want 503 %s", w.Code, got, want)
	}
}

func TestHealthDoesNotAskAnything(t *testing.T) {
	t.Parallel()
	asked := Check{"database", func(context.Context) error {
		t.Error("a check ran")
		return errors.New("away")
	}}
	if w := get(t, AdminHandler(prometheus.NewRegistry(), []Check{asked}), "GET", "/healthz"); w.Code != http.StatusOK {
		t.Errorf("status %d; want 200", w.Code)
	}
}

func TestAdminRoutes(t *testing.T) {
	t.Parallel()
	reg := NewRegistry()
	NewCounters(reg, []string{"live"}).WebhookAnswer("live", 200)
	h := AdminHandler(reg, nil)
	w := get(t, h, "GET", "/metrics")
	for _, want := range []string{`handover_webhook_answers_total{environment="live",status="200"} 1`, "go_goroutines", "process_"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"HEAD", "/healthz", 200},
		{"POST", "/healthz", 405},
		{"POST", "/metrics", 405},
		{"GET", "/", 404},
	} {
		if w := get(t, h, c.method, c.path); w.Code != c.status {
			t.Errorf("%s %s: %d; want %d", c.method, c.path, w.Code, c.status)
		}
	}
}

func TestOneBrokenCollectorDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	NewCounters(reg, nil).WebhookAnswer("x", 404)
	reg.MustRegister(broken{})
	w := get(t, AdminHandler(reg, nil), "GET", "/metrics")
	if !strings.Contains(w.Body.String(), "handover_webhook_answers_total") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

type broken struct{}

func (broken) Describe(ch chan<- *prometheus.Desc) { ch <- descUp }

func (broken) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.NewInvalidMetric(descUp, errors.New("broken"))
}

func TestLogIsJSONWithoutDebug(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	log := Logger(&b)
	log.Debug("hidden")
	log.Info("webhook stored", "order", "live/cs_live_a1b2")
	var line map[string]any
	if err := json.Unmarshal([]byte(b.String()), &line); err != nil {
		t.Fatalf("%v in %q", err, b.String())
	}
	if line["msg"] != "webhook stored" || line["order"] != "live/cs_live_a1b2" || line["level"] != "INFO" {
		t.Errorf("line: %v", line)
	}
}
