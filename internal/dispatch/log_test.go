package dispatch_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"
)

// lines is a log whose messages can be counted and waited for.
type lines struct {
	slog.Handler
	mu   sync.Mutex
	said []string
	came chan struct{}
}

func newLines() *lines { return &lines{Handler: slog.DiscardHandler, came: make(chan struct{}, 1)} }

func (l *lines) Enabled(context.Context, slog.Level) bool { return true }

func (l *lines) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	l.said = append(l.said, r.Message)
	l.mu.Unlock()
	select {
	case l.came <- struct{}{}:
	default:
	}
	return nil
}

func (l *lines) count(message string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, said := range l.said {
		if said == message {
			n++
		}
	}
	return n
}

// wait returns once the message was said so often.
func (l *lines) wait(t *testing.T, message string, n int) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for l.count(message) < n {
		select {
		case <-l.came:
		case <-limit:
			t.Fatalf("%q was said %d times, want %d", message, l.count(message), n)
		}
	}
}
