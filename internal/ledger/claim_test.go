package ledger_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
)

func TestSecondClaimIsHeldUntilTheFirstExpires(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	first := b.claim(1)
	_, err := b.ClaimEmail(t.Context(), b.work(1), terms, render)
	if d := denied(t, err); d.Why != ledger.ClaimHeld || d.Until <= 0 || d.Until > terms.Duration {
		t.Errorf("denied: %s, for %v", d.Why, d.Until)
	}
	b.expire()
	second := b.claim(1)
	if second.Token == first.Token || second.Attempts != 2 {
		t.Errorf("claimed after the expiry: the same token %v, attempt %d", second.Token == first.Token, second.Attempts)
	}
}

// TestExpiryIsByTheDatabaseClock lets a claim run out by itself.
func TestExpiryIsByTheDatabaseClock(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	brief := terms
	brief.Duration = 50 * time.Millisecond
	first, err := b.ClaimEmail(t.Context(), b.work(1), brief, render)
	b.must(err)
	for {
		second, err := b.ClaimEmail(t.Context(), b.work(1), brief, render)
		if err == nil {
			if second.Attempts != 2 {
				t.Errorf("attempt %d", second.Attempts)
			}
			break
		}
		if d := denied(t, err); d.Why != ledger.ClaimHeld || d.Until > brief.Duration {
			t.Fatalf("denied: %s, for %v", d.Why, d.Until)
		}
	}
	if err := b.Finish(t.Context(), b.work(1), first.Token, "msg"); !errors.Is(err, ledger.ErrLeaseLost) {
		t.Errorf("the first one finishes with %v", err)
	}
}

func TestStaleClaimChangesNothing(t *testing.T) {
	t.Parallel()
	for _, taken := range []bool{false, true} {
		b := newEnv(t).pay().give()
		stale := b.claim(1)
		b.expire()
		if taken {
			b.claim(1)
		}
		before := b.view()
		if err := b.Finish(t.Context(), b.work(1), stale.Token, "msg"); !errors.Is(err, ledger.ErrLeaseLost) {
			t.Errorf("taken by another %v: finished with %v", taken, err)
		}
		if err := b.Release(t.Context(), b.work(1), stale.Token, order.ClassRetry, true, 0); !errors.Is(err, ledger.ErrLeaseLost) {
			t.Errorf("taken by another %v: released with %v", taken, err)
		}
		if taken {
			if err := b.Stop(t.Context(), b.work(1), stale.Token, order.ClassPermanent, order.ReasonEmailRefused); !errors.Is(err, ledger.ErrLeaseLost) {
				t.Errorf("stopped under another's hands with %v", err)
			}
		}
		if after := b.view(); after.Facts != before.Facts || after.Reason != "" || after.Emails[0].Class != "" {
			t.Errorf("taken by another %v: changed to %+v, %q", taken, after.Facts, after.Reason)
		}
	}
}

func TestStrangersTokenChangesNothing(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	other := b.another().pay().give()
	b.claim(1)
	token := other.claim(1).Token
	if err := b.Finish(t.Context(), b.work(1), token, "msg"); !errors.Is(err, ledger.ErrLeaseLost) {
		t.Errorf("finished with %v", err)
	}
	if b.view().Facts.Email != order.EmailPending {
		t.Error("another order's token finished this one's email")
	}
}

func TestAttemptsEndAtTheCap(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	two := terms
	two.MaxAttempts = 2
	for attempt := 1; attempt <= 2; attempt++ {
		claim, err := b.ClaimEmail(t.Context(), b.work(1), two, render)
		b.must(err)
		if claim.Attempts != attempt {
			t.Errorf("attempt %d is counted as %d", attempt, claim.Attempts)
		}
		b.must(b.Release(t.Context(), b.work(1), claim.Token, order.ClassUnknown, true, 0))
	}
	_, err := b.ClaimEmail(t.Context(), b.work(1), two, render)
	if d := denied(t, err); d.Why != ledger.ClaimExhausted {
		t.Errorf("denied: %s", d.Why)
	}
	// A run that knows a larger cap continues from the count and does not begin again.
	if claim := b.claim(1); claim.Attempts != 3 {
		t.Errorf("with a larger cap it is attempt %d", claim.Attempts)
	}
}

func TestNothingIsSentPastTheWindow(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	claim := b.claim(1)
	b.must(b.Release(t.Context(), b.work(1), claim.Token, order.ClassUnknown, true, 0))
	b.exec(`UPDATE obligations SET first_attempt_at = clock_timestamp() - $2::interval WHERE session = $1 AND kind = 'email'`, b.key.Session, terms.Window)
	_, err := b.ClaimEmail(t.Context(), b.work(1), terms, render)
	if d := denied(t, err); d.Why != ledger.ClaimPastWindow {
		t.Errorf("denied: %s", d.Why)
	}
	endless := terms
	endless.Window = 0
	if _, err := b.ClaimEmail(t.Context(), b.work(1), endless, render); err != nil {
		t.Errorf("without a window: %v", err)
	}
}

func TestRateLimitSpendsNothing(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	claim := b.claim(1)
	b.must(b.Release(t.Context(), b.work(1), claim.Token, order.ClassRateLimited, false, 0))
	first := b.view().Emails[0].FirstAttemptAt
	if e := b.view().Emails[0]; e.Attempts != 0 || first == nil || e.Class != order.ClassRateLimited {
		t.Fatalf("limited at the first attempt: %d attempts, first at %v, class %s", e.Attempts, first, e.Class)
	}
	claim = b.claim(1)
	if claim.Attempts != 1 {
		t.Errorf("the next attempt is counted as %d", claim.Attempts)
	}
	b.must(b.Release(t.Context(), b.work(1), claim.Token, order.ClassUnknown, true, 0))
	claim = b.claim(1)
	b.must(b.Release(t.Context(), b.work(1), claim.Token, order.ClassRateLimited, false, 0))
	if e := b.view().Emails[0]; e.Attempts != 1 || e.FirstAttemptAt == nil || !e.FirstAttemptAt.Equal(*first) {
		t.Errorf("limited after one that may have arrived: %d attempts, first at %v and before %v", e.Attempts, e.FirstAttemptAt, first)
	}
}

func (b *env) retry(id string) order.Decision {
	b.t.Helper()
	r := b.request(id)
	r.Kind = "retry"
	d, err := b.Retry(b.t.Context(), r, terms.Window)
	b.must(err)
	return d
}

// A retry counts the attempts from nought. What was tried before it may have arrived all the same, and the provider
// forgets its key when it would have without the retry.
func TestRateLimitAfterARetryKeepsTheWindow(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	b.must(b.Release(t.Context(), b.work(1), b.claim(1).Token, order.ClassUnknown, true, 0))
	b.exec(`UPDATE obligations SET first_attempt_at = clock_timestamp() - interval '22 hours' WHERE session = $1 AND kind = 'email'`, b.key.Session)
	first := b.view().Emails[0].FirstAttemptAt
	b.must(b.Stop(t.Context(), b.work(1), "", order.ClassUnknown, order.ReasonEmailExhausted))
	if d := b.retry("one"); d.Outcome != order.OutcomeRetrying {
		t.Fatalf("the retry: %+v", d)
	}
	b.must(b.Release(t.Context(), b.work(1), b.claim(1).Token, order.ClassRateLimited, false, 0))
	if e := b.view().Emails[0]; e.FirstAttemptAt == nil || !e.FirstAttemptAt.Equal(*first) {
		t.Errorf("first at %v, and before the retry %v", e.FirstAttemptAt, first)
	}
	b.exec(`UPDATE obligations SET first_attempt_at = first_attempt_at - interval '2 hours' WHERE session = $1 AND kind = 'email'`, b.key.Session)
	_, err := b.ClaimEmail(t.Context(), b.work(1), terms, render)
	if d := denied(t, err); d.Why != ledger.ClaimPastWindow {
		t.Errorf("an hour after the window: %s", d.Why)
	}
}

// TestAttemptThatDiedCountsBeforeARateLimit: the window starts with the attempt of which nobody knows the outcome.
func TestAttemptThatDiedCountsBeforeARateLimit(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	b.claim(1)
	b.expire()
	claim := b.claim(1)
	b.must(b.Release(t.Context(), b.work(1), claim.Token, order.ClassRateLimited, false, 0))
	if e := b.view().Emails[0]; e.Attempts != 1 || e.FirstAttemptAt == nil {
		t.Errorf("%d attempts, first at %v", e.Attempts, e.FirstAttemptAt)
	}
}

func TestFinishedWorkIsNeverClaimedAgain(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	claim := b.claim(1)
	b.must(b.Finish(t.Context(), b.work(1), claim.Token, "msg"))
	_, err := b.ClaimEmail(t.Context(), b.work(1), terms, render)
	if d := denied(t, err); d.Why != ledger.ClaimFinished {
		t.Errorf("denied: %s", d.Why)
	}
	for name, err := range map[string]error{
		"finished":                b.Finish(t.Context(), b.work(1), claim.Token, "another"),
		"released":                b.Release(t.Context(), b.work(1), claim.Token, order.ClassRetry, true, 0),
		"stopped":                 b.Stop(t.Context(), b.work(1), claim.Token, order.ClassPermanent, order.ReasonEmailRefused),
		"stopped without a token": b.Stop(t.Context(), b.work(1), "", order.ClassPermanent, order.ReasonEmailRefused),
	} {
		if !errors.Is(err, ledger.ErrLeaseLost) {
			t.Errorf("%s again: %v", name, err)
		}
	}
	if v := b.view(); v.Facts.Email != order.EmailAccepted || v.Reason != "" {
		t.Errorf("the email is %s, %q", v.Facts.Email, v.Reason)
	}
}

func TestStoppedWorkIsNeverClaimedAgain(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	claim := b.claim(1)
	b.must(b.Stop(t.Context(), b.work(1), claim.Token, order.ClassPermanent, order.ReasonEmailRefused))
	_, err := b.ClaimEmail(t.Context(), b.work(1), terms, render)
	if d := denied(t, err); d.Why != ledger.ClaimStopped || d.Class != order.ClassPermanent {
		t.Errorf("denied: %s (%s)", d.Why, d.Class)
	}
	if err := b.Finish(t.Context(), b.work(1), claim.Token, "msg"); !errors.Is(err, ledger.ErrLeaseLost) {
		t.Errorf("finished: %v", err)
	}
	v := b.view()
	if v.Facts.Email != order.EmailAttention || v.Reason != order.ReasonEmailRefused || v.Class != order.ClassPermanent || v.AttentionAt == nil {
		t.Errorf("the order: email %s, %q (%s) at %v", v.Facts.Email, v.Reason, v.Class, v.AttentionAt)
	}
}

func TestStopWithoutTokenSparesWhoIsAtWork(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	b.claim(1)
	err := b.Stop(t.Context(), b.work(1), "", order.ClassExhausted, order.ReasonEmailExhausted)
	if held := denied(t, err); held.Why != ledger.ClaimHeld || held.Until <= 0 || held.Until > time.Hour {
		t.Errorf("stopped while another works on it: %+v", held)
	}
	b.expire()
	b.must(b.Stop(t.Context(), b.work(1), "", order.ClassExhausted, order.ReasonEmailExhausted))
	if v := b.view(); v.Facts.Email != order.EmailAttention || v.Reason != order.ReasonEmailExhausted {
		t.Errorf("email %s, %q", v.Facts.Email, v.Reason)
	}
}

func TestWorkThatIsNotOwedIsAbsent(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay()
	_, err := b.ClaimEmail(t.Context(), b.work(2), terms, render)
	if d := denied(t, err); d.Why != ledger.ClaimAbsent {
		t.Errorf("denied: %s", d.Why)
	}
}

// TestClaimThatComesFreeIsNotPastItsWindow: a claim is denied by one statement and the reason read by another. What is
// released in between is no reason to stop the work.
func TestClaimThatComesFreeIsNotPastItsWindow(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	endless := ledger.LeaseOptions{Duration: time.Hour, MaxAttempts: 1 << 30}
	var won atomic.Int64
	atOnce(8, func(int) {
		for won.Load() < 300 && !t.Failed() {
			claim, err := b.ClaimEmail(t.Context(), b.work(1), endless, render)
			var d *ledger.NotClaimableError
			switch {
			case err == nil:
				won.Add(1)
				err = b.Release(t.Context(), b.work(1), claim.Token, order.ClassRetry, true, 0)
			case errors.As(err, &d) && d.Why == ledger.ClaimHeld:
				err = nil
			}
			if err != nil {
				t.Errorf("attempt of many: %v", err)
			}
		}
	})
}

// TestStopAndClaimDoNotWaitForEachOther: both touch the order and its obligation, and a deadlock would fail one of them.
func TestStopAndClaimDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	base := newEnv(t)
	for range 40 {
		b := base.another().pay().give()
		errs := make([]error, 6)
		atOnce(len(errs), func(i int) {
			var d *ledger.NotClaimableError
			if i%2 == 0 {
				errs[i] = b.Stop(t.Context(), b.work(1), "", order.ClassExhausted, order.ReasonEmailExhausted)
			} else {
				_, errs[i] = b.ClaimEmail(t.Context(), b.work(1), terms, render)
			}
			if errors.Is(errs[i], ledger.ErrLeaseLost) || errors.As(errs[i], &d) {
				errs[i] = nil // the other was first
			}
		})
		b.must(errors.Join(errs...))
	}
}
