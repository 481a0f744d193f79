package ledger_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/ledger"
	"handover/internal/order"
)

func (b *env) request(id string) order.Request {
	return order.Request{Key: b.key, ID: id, Kind: "resend", Who: "sam", Why: "the buyer lost it"}
}

func (b *env) resend(r order.Request) order.Decision {
	b.t.Helper()
	d, err := b.Resend(b.t.Context(), r)
	b.must(err)
	return d
}

// audited are the lines of the order's audit.
func (b *env) audited() []string {
	b.t.Helper()
	entries, err := b.Audit(b.t.Context(), b.key)
	b.must(err)
	lines := []string{}
	for _, e := range entries {
		lines = append(lines, e.Who+" | "+e.What+" | "+e.Why)
	}
	return lines
}

func TestResendIsDecidedByTheFacts(t *testing.T) {
	t.Parallel()
	unpaid := func(b *env) { b.store(b.event("1")) }
	tests := []struct {
		name  string
		order func(b *env)
		to    string
		want  order.Decision
		audit string
	}{
		{"delivered", func(b *env) { b.pay().give().accept(1) }, "",
			order.Decision{Outcome: order.OutcomeSending, Generation: 2}, "resend: sending (generation 1: accepted)"},
		{"under way", func(b *env) { b.pay().give().claim(1) }, "",
			order.Decision{Outcome: order.OutcomeJoined, Generation: 1}, "resend: joined (generation 1: under way)"},
		{"under way, to another address", func(b *env) { b.pay().give().claim(1) }, kim,
			order.Decision{Outcome: order.OutcomeSending, Generation: 2}, "resend: sending (generation 1: under way)"},
		{"waiting for its automatic retry", func(b *env) {
			claim := b.pay().give().claim(1)
			b.must(b.Release(b.t.Context(), b.work(1), claim.Token, order.ClassUnknown, true, 0))
		}, "", order.Decision{Outcome: order.OutcomeJoined, Generation: 1}, "resend: joined (generation 1: under way, last failure unknown_outcome)"},
		{"stopped", func(b *env) {
			b.pay().give()
			b.must(b.Stop(b.t.Context(), b.work(1), "", order.ClassExhausted, order.ReasonEmailExhausted))
		}, "", order.Decision{Outcome: order.OutcomeSending, Generation: 2}, "resend: sending (generation 1: stopped, attempts_spent)"},
		{"unpaid", unpaid, "",
			order.Decision{Outcome: order.OutcomeRefused, Refusal: order.RefusedUnpaid}, "resend: refused payment_not_confirmed (no earlier email)"},
		{"unknown to the ledger", func(*env) {}, "",
			order.Decision{Outcome: order.OutcomeRefused, Refusal: order.RefusedUnpaid}, "resend: refused payment_not_confirmed (unknown order)"},
		{"access on its way", func(b *env) { b.pay() }, "",
			order.Decision{Outcome: order.OutcomeRefused, Refusal: order.RefusedNoAccess, Generation: 1}, "resend: refused access_not_granted (generation 1: under way)"},
		{"refunded", func(b *env) {
			b.pay().give().accept(1)
			b.exec(`UPDATE grants SET state = 'revoked' WHERE session = $1`, b.key.Session)
		}, "", order.Decision{Outcome: order.OutcomeRefused, Refusal: order.RefusedNoAccess, Generation: 1}, "resend: refused access_not_granted (generation 1: accepted)"},
		{"no address", func(b *env) { b.payWithoutAddress().give() }, "",
			order.Decision{Outcome: order.OutcomeRefused, Refusal: order.RefusedNoAddress, Generation: 1, Attention: order.ReasonNoAddress},
			"resend: refused no_email_address (generation 1: stopped, permanent)"},
		{"no address, and now there is one", func(b *env) { b.payWithoutAddress().give() }, kim,
			order.Decision{Outcome: order.OutcomeSending, Generation: 2}, "resend: sending (generation 1: stopped, permanent)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newEnv(t)
			test.order(b)
			request := b.request("r1")
			request.Address = test.to
			if diff := cmp.Diff(test.want, b.resend(request)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"sam | " + test.audit + " | the buyer lost it"}, b.audited()); diff != "" {
				t.Errorf("audit (-want +got):\n%s", diff)
			}
			d, decided, err := b.Decided(t.Context(), b.request("r1"))
			test.want.Attention = "" // is of the moment
			if diff := cmp.Diff(test.want, d); diff != "" || !decided || err != nil {
				t.Errorf("read later: decided %v, %v (-want +got):\n%s", decided, err, diff)
			}
		})
	}
}

func (b *env) payWithoutAddress() *env {
	b.t.Helper()
	p := b.paid()
	p.Email, p.Reason, p.Class = "", order.ReasonNoAddress, order.ClassPermanent
	b.record(p)
	return b
}

func TestRepeatedRequestGetsTheFirstDecision(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	first := b.resend(b.request("r1"))
	b.accept(2)
	again := b.request("r1")
	again.Address, again.Why = kim, "another reason"
	second := b.resend(again)
	if !second.Repeated || second.Generation != first.Generation || second.Outcome != first.Outcome {
		t.Errorf("repeated: %+v, first: %+v", second, first)
	}
	if v := b.view(); len(v.Emails) != 2 || v.Address != alex {
		t.Errorf("%d generations; the address changed: %v", len(v.Emails), v.Address != alex)
	}
	if n := len(b.audited()); n != 1 {
		t.Errorf("%d audit lines, want 1", n)
	}
}

func TestSameRequestAtOnceIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	decisions := make([]order.Decision, 10)
	errs := make([]error, 10)
	atOnce(10, func(i int) { decisions[i], errs[i] = b.Resend(t.Context(), b.request("r1")) })
	b.must(errors.Join(errs...))
	first := 0
	for _, d := range decisions {
		if !d.Repeated {
			first++
		}
		if d.Outcome != order.OutcomeSending || d.Generation != 2 {
			t.Errorf("decided %+v", d)
		}
	}
	if v := b.view(); first != 1 || len(v.Emails) != 2 || len(b.audited()) != 1 {
		t.Errorf("%d decisions, %d generations, %d audit lines", first, len(v.Emails), len(b.audited()))
	}
}

func TestTwoRequestsAtOnceMakeOneMessage(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	decisions := make([]order.Decision, 8)
	errs := make([]error, 8)
	atOnce(8, func(i int) { decisions[i], errs[i] = b.Resend(t.Context(), b.request(string(rune('a'+i)))) })
	b.must(errors.Join(errs...))
	outcomes := map[order.Outcome]int{}
	for _, d := range decisions {
		outcomes[d.Outcome]++
		if d.Generation != 2 {
			t.Errorf("generation %d", d.Generation)
		}
	}
	if outcomes[order.OutcomeSending] != 1 || outcomes[order.OutcomeJoined] != 7 || len(b.view().Emails) != 2 {
		t.Errorf("%v with %d generations", outcomes, len(b.view().Emails))
	}
}

func TestAnotherAddressSupersedes(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	first := b.claim(1)
	request := b.request("r1")
	request.Address = kim
	b.resend(request)
	_, err := b.ClaimEmail(t.Context(), b.work(1), terms, render)
	if d := denied(t, err); d.Why != ledger.ClaimStopped {
		t.Errorf("the superseded one: %s", d.Why)
	}
	if second := b.claim(2); second.Message.To != kim {
		t.Error("the new generation does not go to the new address")
	}
	v := b.view()
	if v.Address != kim || !v.Emails[0].Superseded || v.Emails[1].Superseded || v.Facts.Email != order.EmailPending {
		t.Errorf("the new address: %v; %+v", v.Address == kim, v.Facts)
	}
	// What the call under way comes to is recorded all the same.
	b.must(b.Finish(t.Context(), b.work(1), first.Token, b.message(1)))
	if v := b.view(); v.Emails[0].State != order.EmailAccepted || v.Facts.Email != order.EmailPending {
		t.Errorf("the superseded one is %s, the order's email %s", v.Emails[0].State, v.Facts.Email)
	}
}

// TestSupersededMessageDoesNotHideANewerFailure: the order waits for a person although an earlier message arrived late.
func TestSupersededMessageDoesNotHideANewerFailure(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	first := b.claim(1)
	request := b.request("r1")
	request.Address = kim
	b.resend(request)
	second := b.claim(2)
	b.must(b.Stop(t.Context(), b.work(2), second.Token, order.ClassPermanent, order.ReasonEmailRefused))
	b.must(b.Finish(t.Context(), b.work(1), first.Token, b.message(1)))
	if v := b.view(); v.Reason != order.ReasonEmailRefused || v.AttentionAt == nil || v.Facts.Email != order.EmailAttention {
		t.Errorf("%q, email %s", v.Reason, v.Facts.Email)
	}
}

func TestResendTakesTheOrderOffTheList(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	b.must(b.Stop(t.Context(), b.work(1), "", order.ClassPermanent, order.ReasonEmailRefused))
	b.resend(b.request("r1"))
	if v := b.view(); v.Reason != "" || v.Class != "" || v.AttentionAt != nil {
		t.Errorf("still %q", v.Reason)
	}
}

func TestRefusedResendLeavesTheOrderOnTheList(t *testing.T) {
	t.Parallel()
	b := newEnv(t).payWithoutAddress().give()
	b.resend(b.request("r1"))
	if v := b.view(); v.Reason != order.ReasonNoAddress {
		t.Errorf("now %q", v.Reason)
	}
}

func TestResendLeavesAnotherStepsAttention(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	b.exec(`INSERT INTO attention (environment, session, step, reason) VALUES ($1, $2, 'payment', 'payment_still_unpaid')`, b.key.Environment, b.key.Session)
	b.resend(b.request("r1"))
	if v := b.view(); v.Reason != order.ReasonPaymentOverdue {
		t.Errorf("now %q", v.Reason)
	}
}

func TestResendsEnd(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	for generation := 2; generation <= order.MostGenerations; generation++ {
		if d := b.resend(b.request(b.work(generation).Subject)); d.Outcome != order.OutcomeSending || d.Generation != generation {
			t.Fatalf("resend to generation %d: %+v", generation, d)
		}
		b.accept(generation)
	}
	if d := b.resend(b.request("one more")); d.Refusal != order.RefusedTooMany {
		t.Errorf("one more: %+v", d)
	}
	if v := b.view(); len(v.Emails) != order.MostGenerations || v.Emails[9].Generation != 10 {
		t.Errorf("%d generations, the tenth is %d", len(v.Emails), v.Emails[9].Generation)
	}
}

func TestFiledAddressIsUsedThoughTheSignalHasNone(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	request := b.request("r1")
	request.Address = kim
	b.must(b.StoreRequest(t.Context(), request))
	if _, decided, err := b.Decided(t.Context(), b.request("r1")); decided || err != nil {
		t.Errorf("decided %v, %v before anybody did", decided, err)
	}
	request.Address, request.Who = "", "the workflow"
	b.resend(request)
	if b.claim(2).Message.To != kim {
		t.Error("the message does not go to the filed address")
	}
	if diff := cmp.Diff([]string{"sam | resend: sending (generation 1: accepted) | the buyer lost it"}, b.audited()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}
