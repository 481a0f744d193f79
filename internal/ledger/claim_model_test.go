package ledger_test

import (
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"handover/internal/ledger"
	"handover/internal/order"
)

// claimModel is the claim rule in a few lines of Go, beside which the ledger is run.
type claimModel struct {
	attempts          int
	tried, aged       bool // there was a first attempt; it is longer ago than the window
	token             string
	expired           bool
	finished, stopped bool
	rests             bool // not wanted while access has ended
	stale             []string
}

var modelTerms = ledger.LeaseOptions{Duration: time.Hour, MaxAttempts: 4, Window: 23 * time.Hour}

// why is the denial of a claim, empty when it is given.
func (m *claimModel) why() ledger.NotClaimable {
	switch {
	case m.finished:
		return ledger.ClaimFinished
	case m.stopped:
		return ledger.ClaimStopped
	case m.rests:
		return ledger.ClaimSuspended
	case m.token != "" && !m.expired:
		return ledger.ClaimHeld
	case m.attempts >= modelTerms.MaxAttempts:
		return ledger.ClaimExhausted
	case m.tried && m.aged:
		return ledger.ClaimPastWindow
	}
	return ""
}

// holds says that the token is the one with which work may be finished or released.
func (m *claimModel) holds(token string) bool {
	return token != "" && token == m.token && !m.expired && !m.finished
}

func (m *claimModel) free() {
	m.stale = append(m.stale, m.token)
	m.token, m.expired = "", false
}

// TestClaimRule runs random histories of claims, of many at once, and compares every answer with the model.
func TestClaimRule(t *testing.T) {
	t.Parallel()
	base := newEnv(t)
	rapid.Check(t, func(rt *rapid.T) {
		b := base.another().pay().give()
		m := &claimModel{}
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{"claim", "claim", "claim", "finish", "release", "limit", "stop", "retry", "expire", "age", "refund", "restore"}), 1, 14)
		for _, step := range steps.Draw(rt, "steps") {
			b.modelStep(rt, m, step)
		}
		v := b.view().Emails[0]
		if v.Attempts != m.attempts || (v.FirstAttemptAt != nil) != m.tried || (v.AcceptedAt != nil) != m.finished {
			rt.Fatalf("in the end: %+v, the model has %+v", v, m)
		}
	})
}

func (b *env) modelStep(rt *rapid.T, m *claimModel, step string) {
	token := m.token
	if len(m.stale) > 0 && rapid.Bool().Draw(rt, "stale token") {
		token = rapid.SampledFrom(m.stale).Draw(rt, "token")
	}
	switch step {
	case "claim":
		b.claimByMany(rt, m, rapid.IntRange(1, 6).Draw(rt, "workers"))
	case "finish":
		if token != "" && b.agrees(rt, step, m.holds(token), b.Finish(b.t.Context(), b.work(1), token, "msg")) {
			m.free()
			m.finished = true
		}
	case "release", "limit":
		spent := step == "release"
		if token != "" && b.agrees(rt, step, m.holds(token), b.Release(b.t.Context(), b.work(1), token, order.ClassRetry, spent, 0)) {
			m.free()
			if !spent { // the window stays: an attempt from before a retry may have arrived
				m.attempts--
			}
		}
	case "stop":
		b.stopAsModelled(rt, m, token)
	case "retry":
		b.retryAsModelled(rt, m)
	case "refund": // a claim that is held stays: its message may be on its way
		b.review(strict, order.ReversalFacts{Refunded: 1200})
		m.rests = m.rests || !m.finished
	case "restore":
		b.review(strict, order.ReversalFacts{})
		m.rests = false
	case "expire":
		if m.token != "" {
			b.expire()
			m.expired = true
		}
	case "age":
		if m.tried {
			b.exec(`UPDATE obligations SET first_attempt_at = first_attempt_at - $2::interval WHERE session = $1 AND kind = 'email'`, b.key.Session, modelTerms.Window)
			m.aged = true
		}
	}
}

// stopAsModelled stops the work. Who holds no claim hears of one that another holds.
func (b *env) stopAsModelled(rt *rapid.T, m *claimModel, token string) {
	err := b.Stop(b.t.Context(), b.work(1), token, order.ClassExhausted, order.ReasonEmailExhausted)
	over, held := m.finished || m.stopped, m.token != "" && !m.expired
	if token == "" && held && !over {
		var denied *ledger.NotClaimableError
		if !errors.As(err, &denied) || denied.Why != ledger.ClaimHeld {
			rt.Fatalf("stop without a claim: %v, want %q", err, ledger.ClaimHeld)
		}
		return
	}
	if b.agrees(rt, "stop", !over && (!held || token == m.token), err) {
		m.free()
		m.stopped = true
	}
}

// retryAsModelled asks for what has stopped to be worked on again: its attempts are counted from nought, its window is not.
func (b *env) retryAsModelled(rt *rapid.T, m *claimModel) {
	d := b.retry(rand.Text())
	if !m.stopped || m.finished {
		return
	}
	past := m.tried && m.aged
	if want := map[bool]order.Outcome{true: order.OutcomeRefused, false: order.OutcomeRetrying}[past]; d.Outcome != want {
		rt.Fatalf("retry: %+v, want %s", d, want)
	}
	if !past {
		m.stopped, m.attempts = false, 0
	}
}

// agrees compares an answer of the ledger with what the model allows.
func (b *env) agrees(rt *rapid.T, step string, may bool, err error) bool {
	if may && err != nil || !may && !errors.Is(err, ledger.ErrLeaseLost) {
		rt.Fatalf("%s: allowed %v, the ledger says %v", step, may, err)
	}
	return may
}

// claimByMany has workers claim at once: one wins where a claim is to be had, and all others get the same reason.
func (b *env) claimByMany(rt *rapid.T, m *claimModel, workers int) {
	claims := make([]ledger.EmailClaim, workers)
	errs := make([]error, workers)
	atOnce(workers, func(i int) { claims[i], errs[i] = b.ClaimEmail(b.t.Context(), b.work(1), modelTerms, render) })
	want := m.why()
	won := 0
	for i, err := range errs {
		if err == nil {
			won++
			if m.token != "" {
				m.free()
			}
			m.token, m.attempts, m.tried = claims[i].Token, m.attempts+1, true
			if claims[i].Attempts != m.attempts {
				rt.Fatalf("the claim is attempt %d, the model has %d", claims[i].Attempts, m.attempts)
			}
			continue
		}
		reason := want
		if want == "" {
			reason = ledger.ClaimHeld
		}
		var d *ledger.NotClaimableError
		if !errors.As(err, &d) || d.Why != reason {
			rt.Fatalf("denied with %v, want %q", err, reason)
		}
	}
	if want == "" && won != 1 || want != "" && won != 0 {
		rt.Fatalf("%d of %d workers won, and the model says %q", won, workers, want)
	}
}
