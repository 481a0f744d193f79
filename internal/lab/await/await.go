// Package await waits for what becomes true a moment later: a metric, a log line or a row is not there yet when the call
// that brings it about returns.
package await

import (
	"context"
	"time"
)

// Limit is the longest wait of a test. It is far above what a slow machine needs, because it only decides when a test
// that fails anyway ends.
const Limit = 150 * time.Second

const interval = 25 * time.Millisecond

// Until polls, so often, until the condition holds or fails, or the context ends.
func Until(ctx context.Context, every time.Duration, holds func(context.Context) (bool, error)) error {
	for {
		if ok, err := holds(ctx); ok || err != nil {
			return err
		}
		if !Pause(ctx, every) {
			return context.Cause(ctx)
		}
	}
}

// Pause waits, and says whether the context is still alive.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// T is a test, as far as it is needed here.
type T interface {
	Helper()
	Context() context.Context
	Fatalf(format string, args ...any)
}

// True fails the test unless the condition becomes true.
func True(t T, what string, holds func() bool) {
	t.Helper()
	Equal(t, what, true, holds)
}

// Equal fails the test unless the value becomes the one that is wanted.
func Equal[V comparable](t T, what string, want V, value func() V) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Limit)
	defer cancel()

	var last V
	err := Until(ctx, interval, func(context.Context) (bool, error) {
		last = value()
		return last == want, nil
	})
	if err != nil {
		t.Fatalf("%s: got %v to the end, want %v", what, last, want)
	}
}
