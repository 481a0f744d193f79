package ledger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/ledger"
	"handover/internal/order"
)

// tried has one generation of the email attempted, at an address of its own, without our knowing what came of it.
func (b *env) tried(address string) *env {
	b.t.Helper()
	b.pay().give()
	b.exec(`UPDATE orders SET address = $2 WHERE session = $1`, b.key.Session, address)
	claim := b.claim(1)
	b.must(b.Release(b.t.Context(), b.work(1), claim.Token, order.ClassUnknown, true, 0))
	return b
}

func (b *env) ownAddress() string { return b.key.Session + "@example.com" }

func (b *env) byList(found ...string) bool {
	b.t.Helper()
	proved, err := b.AcceptByList(b.t.Context(), b.work(1), "", found, time.Minute)
	b.must(err)
	return proved
}

func TestAMessageThatCanBeNoOtherIsAcceptedByTheList(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	b.tried(b.ownAddress())
	id := b.message(1)
	if !b.byList(id, id) {
		t.Fatal("it is not accepted")
	}
	v := b.view()
	if e := v.Emails[0]; e.State != order.EmailAccepted || e.AcceptedAt == nil || !e.AcceptedAt.Equal(*e.FirstAttemptAt) || e.Class != "" {
		t.Errorf("the email is %+v", e)
	}
	if n := b.count(`SELECT count(*) FROM obligations WHERE provider_id = $1`, id); n != 1 {
		t.Errorf("%d emails have the message's id", n)
	}
	audit, err := b.Audit(t.Context(), b.key)
	b.must(err)
	if len(audit) != 1 || audit[0].Who != "handover" || audit[0].What != "email generation 1: accepted" || audit[0].Why == "" {
		t.Errorf("the audit says %+v", audit)
	}
	if b.byList("another") {
		t.Error("an accepted email is accepted again")
	}
}

// Each case leaves one doubt, and the last line of each is what the list showed.
func TestADoubtIsNoEvidence(t *testing.T) {
	t.Parallel()
	for name, doubt := range map[string]func(b *env) []string{
		"nothing was found": func(b *env) []string { return nil },
		"two can be it":     func(b *env) []string { return []string{b.message(1), "another-" + b.key.Session} },
		"the only one is another order's": func(b *env) []string {
			other := b.another().pay().give().accept(1)
			return []string{other.message(1)}
		},
		"the only one is another generation's": func(b *env) []string {
			b.exec(`INSERT INTO obligations (environment, session, kind, subject, provider_id, finished_at) VALUES ($1, $2, 'email', '2', $3, now())`,
				b.key.Environment, b.key.Session, b.message(2))
			return []string{b.message(2)}
		},
		"an event says that it is another order's": func(b *env) []string {
			other := b.another()
			b.report(tagged("ev_"+b.key.Session, b.message(1), other.key))
			return []string{b.message(1)}
		},
		"another order's to the same address was tried too": func(b *env) []string {
			b.another().tried(b.ownAddress())
			return []string{b.message(1)}
		},
		"the same, in another letter case, and a person has to decide": func(b *env) []string {
			other := b.another().tried("CS" + b.ownAddress()[2:])
			b.must(b.Stop(b.t.Context(), other.work(1), "", order.ClassExhausted, order.ReasonEmailExhausted))
			return []string{b.message(1)}
		},
		"the same, and it is being sent at this moment": func(b *env) []string {
			other := b.another().tried(b.ownAddress())
			other.claim(1)
			return []string{b.message(1)}
		},
		"the same, before there was a note of the last attempt": func(b *env) []string {
			other := b.another().tried(b.ownAddress())
			b.exec(`UPDATE obligations SET first_attempt_at = now() - interval '5 hours', last_attempt_at = NULL WHERE session = $1 AND kind = 'email'`, other.key.Session)
			return []string{b.message(1)}
		},
		"another worker is sending it": func(b *env) []string {
			b.claim(1)
			return []string{b.message(1)}
		},
		"a person has to decide already": func(b *env) []string {
			b.must(b.Stop(b.t.Context(), b.work(1), "", order.ClassExhausted, order.ReasonEmailExhausted))
			return []string{b.message(1)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newEnv(t)
			b.t = t
			b.tried(b.ownAddress())
			if b.byList(doubt(b)...) {
				t.Error("it is accepted")
			}
			if e := b.view().Emails[0]; e.AcceptedAt != nil {
				t.Errorf("the email is %s", e.State)
			}
		})
	}
}

func tagged(id, message string, key order.Key) order.EmailEvent {
	return order.EmailEvent{ID: id, Type: "email.sent", MessageID: message, Delivery: order.DeliverySent, Tags: map[string]string{
		order.TagEnvironment: key.Environment, order.TagSession: key.Session, order.TagGeneration: "1"}}
}

func TestWhatIsKnownToBeAnothersLeavesNoDoubt(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]func(b *env) []string{
		"another order's message to the same address": func(b *env) []string {
			other := b.another().tried(b.ownAddress()).accept(1)
			return []string{other.message(1), b.message(1)}
		},
		"a message that another order's event names": func(b *env) []string {
			b.report(tagged("ev_"+b.key.Session, "theirs-"+b.key.Session, b.another().key))
			return []string{b.message(1), "theirs-" + b.key.Session}
		},
		"an event without tags about this one": func(b *env) []string {
			b.report(order.EmailEvent{ID: "ev_" + b.key.Session, Type: "email.sent", MessageID: b.message(1)})
			return []string{b.message(1)}
		},
		"another order's that was tried at another time": func(b *env) []string {
			other := b.another().tried(b.ownAddress())
			b.exec(`UPDATE obligations SET first_attempt_at = now() - interval '5 hours', last_attempt_at = now() - interval '4 hours'
			        WHERE session = $1 AND kind = 'email'`, other.key.Session)
			return []string{b.message(1)}
		},
		"another order's with another subject": func(b *env) []string {
			other := b.another().tried(b.ownAddress())
			b.exec(`UPDATE obligations SET payload = convert_to(replace(convert_from(payload, 'UTF8'), 'Your order', 'Your orders'), 'UTF8')
			        WHERE session = $1 AND kind = 'email'`, other.key.Session)
			return []string{b.message(1)}
		},
		"another order's that was not tried yet": func(b *env) []string {
			b.another().pay().give()
			return []string{b.message(1)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newEnv(t)
			b.t = t
			b.tried(b.ownAddress())
			found := other(b)
			if !b.byList(found...) {
				t.Error("it is not accepted")
			}
			if n := b.count(`SELECT count(*) FROM obligations WHERE session = $1 AND provider_id = $2`, b.key.Session, b.message(1)); n != 1 {
				t.Error("it has not got its own message's id")
			}
		})
	}
}

func TestTheHolderOfTheClaimMayAcceptByTheList(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	b.tried(b.ownAddress())
	claim := b.claim(1)
	proved, err := b.AcceptByList(t.Context(), b.work(1), claim.Token, []string{b.message(1)}, time.Minute)
	b.must(err)
	if !proved {
		t.Error("it is not accepted")
	}
}

func TestAnAttemptedEmailIsReadWithItsTimes(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	unproved := func() (ledger.AttemptedEmail, bool) {
		t.Helper()
		a, open, err := b.Unverified(t.Context(), b.work(1))
		b.must(err)
		return a, open
	}
	if _, open := unproved(); open {
		t.Error("an email that was never tried may have arrived")
	}
	first := b.claim(1)
	b.must(b.Release(t.Context(), b.work(1), first.Token, order.ClassUnknown, true, 0))
	b.exec(`UPDATE obligations SET first_attempt_at = first_attempt_at - interval '2 hours' WHERE session = $1 AND kind = 'email'`, b.key.Session)
	b.claim(1)
	b.expire()
	a, open := unproved()
	if diff := cmp.Diff(first.Message, a.Message); diff != "" || !open {
		t.Errorf("open %v, message (-want +got):\n%s", open, diff)
	}
	if between := a.Last.Sub(a.First); between < 2*time.Hour || between > 3*time.Hour {
		t.Errorf("%s between the first and the last attempt", between)
	}
	b.must(b.Stop(t.Context(), b.work(1), "", order.ClassExhausted, order.ReasonEmailExhausted))
	if _, open := unproved(); open {
		t.Error("an email that a person has to decide on is still looked for")
	}
	accepted := b.another().pay().give().accept(1)
	if _, open, err := b.Unverified(t.Context(), accepted.work(1)); open || err != nil {
		t.Errorf("an accepted email is looked for: %v", err)
	}
}
