package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// checkLimit is how long readiness waits for one check.
const checkLimit = 2 * time.Second

// Check is one thing that a process needs to do its work. Run must return when ctx ends. Its error is not shown, unless
// it is a Word.
type Check struct {
	Name string
	Run  func(ctx context.Context) error
}

// Word is an error that readiness shows as it is: a safe word from our own code, such as "no_pollers".
type Word string

func (w Word) Error() string { return string(w) }

// What readiness says of a check that does not say it itself.
const (
	wordOK      = "ok"
	wordFailed  = Word("failed")
	wordTimeout = Word("timed_out")
)

// AdminHandler serves a process's operators: /healthz (alive), /readyz (able to work) and /metrics. It belongs on an
// address that is not public.
func AdminHandler(reg *prometheus.Registry, checks []Check) http.Handler {
	return adminHandler(reg, checks, checkLimit)
}

func adminHandler(reg *prometheus.Registry, checks []Check, limit time.Duration) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		_, _ = io.WriteString(w, "ok\n")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		answer := ready(r.Context(), checks, limit)
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "application/json")
		if !answer.Ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(answer)
	})
	// One collector that fails must not hide the others.
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	return mux
}

type readiness struct {
	Ready  bool              `json:"ready"`
	Checks map[string]string `json:"checks"`
}

// ready runs all checks at once.
func ready(ctx context.Context, checks []Check, limit time.Duration) readiness {
	answer := readiness{Ready: true, Checks: map[string]string{}}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, c := range checks {
		all.Go(func() {
			err := run(ctx, c, limit)
			mu.Lock()
			defer mu.Unlock()
			answer.Checks[c.Name] = wordOK
			if err != nil {
				answer.Ready = false
				answer.Checks[c.Name] = word(err)
			}
		})
	}
	all.Wait()
	return answer
}

// run returns after the limit even when the check does not.
func run(ctx context.Context, c Check, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- c.Run(ctx) }()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return wordTimeout
	}
}

func word(err error) string {
	var w Word
	switch {
	case errors.As(err, &w):
		return string(w)
	case errors.Is(err, context.DeadlineExceeded):
		return string(wordTimeout)
	}
	return string(wordFailed)
}
