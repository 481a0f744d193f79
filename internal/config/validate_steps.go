package config

import (
	"math"
	"time"
)

// Bounds of a step's settings.
const (
	maxAttempts    = 500
	minCallTimeout = time.Second
	maxCallTimeout = 5 * time.Minute
)

func (r *reader) steps(t *table, c *Config) {
	r.step(t.table("payment"), &c.Steps.Payment)
	r.step(t.table("access"), &c.Steps.Access)
	email := t.table("email")
	r.step(email, &c.Steps.Email)
	r.step(t.table("revoke"), &c.Steps.Revoke)
	t.done()

	// Past the window the provider has forgotten the key, and the same request would be a second email.
	if window := c.Email.SendWindow(); c.Email.IdempotencyWindow > 0 && c.Steps.Email.GiveUpAfter > window {
		r.p.add(email.at("give_up_after"),
			"is %s, but an email may be sent again only within %s of its first attempt (email.idempotency_window less a margin); write at most %[2]s",
			c.Steps.Email.GiveUpAfter, window)
	}
}

func (r *reader) step(t *table, s *Step) {
	t.count("attempts", &s.Attempts)
	t.duration("first_wait", &s.FirstWait)
	t.number("factor", &s.Factor)
	t.duration("longest_wait", &s.LongestWait)
	t.duration("give_up_after", &s.GiveUpAfter)
	t.duration("call_timeout", &s.CallTimeout)
	t.done()

	if s.Attempts < 1 || s.Attempts > maxAttempts {
		r.p.add(t.at("attempts"), "is %d; write 1 to %d", s.Attempts, maxAttempts)
	}
	if s.FirstWait <= 0 {
		r.p.add(t.at("first_wait"), "is %s; it must be longer than nothing", s.FirstWait)
	}
	if !(s.Factor >= 1) || math.IsInf(s.Factor, 0) {
		r.p.add(t.at("factor"), "is %v; write 1 or more, so that waits do not shrink", s.Factor)
	}
	if s.LongestWait < s.FirstWait {
		r.p.add(t.at("longest_wait"), "is %s, shorter than first_wait (%s); make it at least as long", s.LongestWait, s.FirstWait)
	}
	if s.CallTimeout < minCallTimeout || s.CallTimeout > maxCallTimeout {
		r.p.add(t.at("call_timeout"), "is %s; write %s to %s", s.CallTimeout, minCallTimeout, maxCallTimeout)
	}
	if s.GiveUpAfter < s.CallTimeout {
		r.p.add(t.at("give_up_after"), "is %s, shorter than call_timeout (%s): not even one attempt would fit", s.GiveUpAfter, s.CallTimeout)
	}
}
