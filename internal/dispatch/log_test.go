package dispatch_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"handover/internal/lab/await"
)

// lines is a log whose messages can be counted and waited for.
type lines struct {
	slog.Handler
	mu   sync.Mutex
	said []string
}

func newLines() *lines { return &lines{Handler: slog.DiscardHandler} }

func (l *lines) Enabled(context.Context, slog.Level) bool { return true }

func (l *lines) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, r.Message)
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
	await.True(t, fmt.Sprintf("%q is said %d times", message, n), func() bool { return l.count(message) >= n })
}
