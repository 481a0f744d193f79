package ledger_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/ledger"
	"handover/internal/order"
)

func TestUnreadableRequestIsWrittenDown(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	for range 2 {
		b.must(b.Refuse(t.Context(), b.request("r1"), order.RefusedUnreadable))
	}
	if diff := cmp.Diff([]string{"sam | resend: refused payload_not_readable (nothing was done) | the buyer lost it"}, b.audited()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
	d, decided, err := b.Decided(t.Context(), b.request("r1"))
	if !decided || err != nil || d.Refusal != order.RefusedUnreadable || d.Outcome != order.OutcomeRefused {
		t.Errorf("read later: %+v, %v, %v", d, decided, err)
	}
	if len(b.view().Emails) != 1 {
		t.Error("a refused request made a message")
	}
}

func TestRefusalDoesNotTakeBackADecision(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	b.resend(b.request("r1"))
	b.must(b.Refuse(t.Context(), b.request("r1"), order.RefusedUnreadable))
	if d, _, err := b.Decided(t.Context(), b.request("r1")); err != nil || d.Outcome != order.OutcomeSending || len(b.audited()) != 1 {
		t.Errorf("now %+v, %v, %d audit lines", d, err, len(b.audited()))
	}
}

func TestRequestNobodyMadeIsNotDecided(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	if d, decided, err := b.Decided(t.Context(), b.request("none")); decided || err != nil || d != (order.Decision{}) {
		t.Errorf("%+v, %v, %v", d, decided, err)
	}
}

func (b *env) buyerRequest(id string) order.Request {
	return order.Request{Key: b.key, ID: id, Kind: "resend", Who: "buyer", Why: "asked for on the order page"}
}

func TestBuyerMayAskEveryTenMinutesAndFiveTimes(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	b.must(b.StoreRequest(t.Context(), b.request("an operator's does not count")))
	for i := range 5 {
		filed, _, err := b.StoreBuyerRequest(t.Context(), b.buyerRequest(string(rune('a'+i))))
		if !filed || err != nil {
			t.Fatalf("request %d: %v, %v", i+1, filed, err)
		}
		if i == 4 {
			break
		}
		filed, wait, err := b.StoreBuyerRequest(t.Context(), b.buyerRequest("too soon"))
		if filed || err != nil || wait <= 9*time.Minute || wait > 10*time.Minute {
			t.Errorf("at once again: %v, %v, wait %v", filed, err, wait)
		}
		b.exec(`UPDATE requests SET created_at = created_at - interval '7 minutes' WHERE session = $1 AND who = 'buyer'`, b.key.Session)
		if filed, wait, err = b.StoreBuyerRequest(t.Context(), b.buyerRequest("still too soon")); filed || err != nil || wait <= 2*time.Minute || wait > 3*time.Minute {
			t.Errorf("seven minutes later: %v, %v, wait %v", filed, err, wait)
		}
		b.exec(`UPDATE requests SET created_at = created_at - interval '3 minutes' WHERE session = $1 AND who = 'buyer'`, b.key.Session)
	}
	b.exec(`UPDATE requests SET created_at = created_at - interval '1 day' WHERE session = $1 AND who = 'buyer'`, b.key.Session)
	if filed, wait, err := b.StoreBuyerRequest(t.Context(), b.buyerRequest("the sixth")); filed || err != nil || wait < time.Minute {
		t.Errorf("the sixth request: %v, %v, wait %v", filed, err, wait)
	}
	other := b.another().pay()
	if filed, _, err := other.StoreBuyerRequest(t.Context(), other.buyerRequest("another order's")); !filed || err != nil {
		t.Errorf("another order: %v, %v", filed, err)
	}
}

func TestBuyersDoubleClickIsOneWish(t *testing.T) {
	t.Parallel()
	base := newEnv(t)
	for range 10 {
		b := base.another().pay()
		filed := make([]bool, 4)
		errs := make([]error, 4)
		atOnce(4, func(i int) {
			filed[i], _, errs[i] = b.StoreBuyerRequest(t.Context(), b.buyerRequest(string(rune('a'+i))))
		})
		b.must(errors.Join(errs...))
		n := 0
		for _, f := range filed {
			if f {
				n++
			}
		}
		if n != 1 {
			t.Fatalf("%d of 4 requests at once were stored", n)
		}
	}
}

func TestRequestsWaitUntilTheyAreDecided(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	b.pay().give().accept(1)
	waiting := func() []string {
		t.Helper()
		found, err := b.Waiting(t.Context(), 30*time.Second, 10)
		b.must(err)
		ids := []string{}
		for _, r := range found {
			ids = append(ids, r.ID)
			if diff := cmp.Diff(b.request(r.ID), r); diff != "" {
				t.Errorf("listed (-want +got):\n%s", diff)
			}
		}
		return ids
	}
	for _, id := range []string{"first", "second", "just now"} {
		b.must(b.StoreRequest(t.Context(), b.request(id)))
	}
	age := func(id string, by time.Duration) {
		b.exec(`UPDATE requests SET created_at = created_at - $2::interval, signalled_at = signalled_at - $2::interval WHERE request_id = $1`, id, by)
	}
	age("first", 2*time.Minute)
	age("second", time.Minute)
	if diff := cmp.Diff([]string{"first", "second"}, waiting()); diff != "" {
		t.Errorf("after the grace (-want +got):\n%s", diff)
	}
	b.must(b.MarkSignalled(t.Context(), b.key, "first"))
	if diff := cmp.Diff([]string{"second"}, waiting()); diff != "" {
		t.Errorf("the first was signalled just now (-want +got):\n%s", diff)
	}
	age("first", time.Minute)
	if diff := cmp.Diff([]string{"second"}, waiting()); diff != "" {
		t.Errorf("the first waited two minutes for its signal, and so waits two for the next (-want +got):\n%s", diff)
	}
	age("first", 90*time.Second)
	if diff := cmp.Diff([]string{"first", "second"}, waiting()); diff != "" {
		t.Errorf("its signal was lost (-want +got):\n%s", diff)
	}
	b.resend(b.request("first"))
	if diff := cmp.Diff([]string{"second"}, waiting()); diff != "" {
		t.Errorf("the first is decided (-want +got):\n%s", diff)
	}
}

func TestRetryReopensWhatStoppedOnceAndKeepsTheKeys(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	b.pay().give()
	work := ledger.EmailObligation(b.key, 1)
	b.must(b.Stop(t.Context(), work, "", order.ClassExhausted, order.ReasonEmailExhausted))
	retry := func(id string) order.Decision {
		t.Helper()
		r := b.request(id)
		r.Kind = "retry"
		d, err := b.Retry(t.Context(), r, time.Hour)
		b.must(err)
		return d
	}
	if d := retry("one"); d.Outcome != order.OutcomeRetrying || d.Generation != 1 || d.Repeated {
		t.Fatalf("the first retry: %+v", d)
	}
	view, err := b.Order(t.Context(), b.key)
	b.must(err)
	if view.Reason != "" || view.Facts.Email != order.EmailPending || len(view.Emails) != 1 || view.Emails[0].Attempts != 0 {
		t.Errorf("after the retry: reason %q, email %s, %+v", view.Reason, view.Facts.Email, view.Emails)
	}
	if d := retry("one"); d.Outcome != order.OutcomeRetrying || !d.Repeated {
		t.Errorf("the same request again: %+v", d)
	}
	b.exec(`UPDATE obligations SET first_attempt_at = now() - interval '2 hours', stopped_at = now(), failure_class = 'unknown_outcome' WHERE kind = 'email'`)
	if d := retry("two"); d.Outcome != order.OutcomeRefused || d.Refusal != order.RefusedPastWindow {
		t.Errorf("past the window: %+v", d)
	}
}

func TestOneIDOfTwoKindsIsTwoRequests(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	retry := b.request("TICKET-7")
	retry.Kind = "retry"
	if d, err := b.Retry(t.Context(), retry, time.Hour); err != nil || d.Outcome != order.OutcomeRefused {
		t.Fatalf("the retry of a finished order: %+v, %v", d, err)
	}
	if d := b.resend(b.request("TICKET-7")); d.Outcome != order.OutcomeSending || d.Repeated || d.Generation != 2 {
		t.Errorf("a resend under the same id: %+v", d)
	}
}

// A request that came after a message had left is not fulfilled by it, even if its evidence came later still.
func TestAResendIsNotAnsweredByAnEarlierMessageThatWasProvedLater(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	b.exec(`UPDATE obligations SET first_attempt_at = now() - interval '1 hour' WHERE session = $1 AND kind = 'email'`, b.key.Session)
	b.must(b.Stop(t.Context(), ledger.EmailObligation(b.key, 1), "", order.ClassUnknown, order.ReasonEmailExhausted))
	b.must(b.StoreRequest(t.Context(), b.request("asked")))
	b.tell(b.emailEvent("proof", "1", "re_1", order.DeliveryBounced))
	if v := b.view(); v.Facts.Email != order.EmailAccepted || v.Reason != order.ReasonEmailBounced {
		t.Fatalf("after the proof: email %s, reason %q", v.Facts.Email, v.Reason)
	}
	if d := b.resend(b.request("asked")); d.Outcome != order.OutcomeSending {
		t.Errorf("the request: %+v", d)
	}
}
