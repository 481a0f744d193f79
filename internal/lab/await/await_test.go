package await_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"handover/internal/lab/await"
)

func TestUntilPollsUntilTheConditionHoldsOrFails(t *testing.T) {
	t.Parallel()
	calls := 0
	err := await.Until(t.Context(), time.Millisecond, func(context.Context) (bool, error) { calls++; return calls == 3, nil })
	if err != nil || calls != 3 {
		t.Errorf("got %v after %d calls, want success after 3", err, calls)
	}

	broken := errors.New("broken")
	if err := await.Until(t.Context(), time.Millisecond, func(context.Context) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want the condition's own error", err)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	if err := await.Until(ctx, time.Hour, func(context.Context) (bool, error) { return false, nil }); !errors.Is(err, broken) {
		t.Errorf("got %v, want the cause of the context's end", err)
	}
}

// failing is a test that has no time left.
type failing struct {
	*testing.T
	said string
}

func (f *failing) Fatalf(format string, args ...any) { f.said = fmt.Sprintf(format, args...) }

func (f *failing) Context() context.Context {
	ctx, cancel := context.WithCancel(f.T.Context())
	cancel()
	return ctx
}

func TestEqualSaysWhatTheValueWasLast(t *testing.T) {
	t.Parallel()
	n := 0
	await.Equal(t, "calls", 3, func() int { n++; return n })

	f := &failing{T: t}
	await.Equal(f, "messages", 2, func() int { return 1 })
	if want := "messages: got 1 to the end, want 2"; f.said != want {
		t.Errorf("got %q, want %q", f.said, want)
	}
}
