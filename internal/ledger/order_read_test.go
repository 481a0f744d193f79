package ledger_test

import (
	"crypto/sha256"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"handover/internal/ledger"
	"handover/internal/order"
)

func TestUnknownOrderIsNotFound(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	if _, err := b.Order(t.Context(), b.key); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if _, err := b.OrderByLink(t.Context(), sha256.Sum256([]byte(b.key.Session))); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("by a link: %v, want ErrNotFound", err)
	}
}

func TestOrderIsReadWhole(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	want := order.View{
		Key: b.key,
		Facts: order.Facts{
			Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailAccepted,
		},
		Total:       order.Money{Minor: 1200, Currency: "eur"},
		Paid:        1200,
		PaymentRef:  "pi_" + b.key.Session,
		Address:     alex,
		LinkVersion: 1,
		Items:       b.paid().Items,
		Grants: []order.Grant{
			{Product: "guide", Kind: "download", File: "guide.pdf", Unit: 1, State: order.AccessGranted},
			{Product: "guide", Kind: "license", Unit: 1, State: order.AccessGranted},
			{Product: "guide", Kind: "license", Unit: 2, State: order.AccessGranted},
		},
		Emails: []order.EmailView{{Generation: 1, State: order.EmailAccepted, Attempts: 1, Address: alex}},
	}
	got := b.view()
	ignore := cmp.Options{
		cmpopts.IgnoreFields(order.View{}, "CreatedAt", "CheckedAt", "ConfirmedAt", "Reference"), cmpopts.IgnoreFields(order.Grant{}, "ID", "Secret"),
		cmpopts.IgnoreFields(order.EmailView{}, "FirstAttemptAt", "AcceptedAt"),
		cmpopts.SortSlices(func(a, b order.Grant) bool {
			return string(a.Kind)+strconv.FormatInt(a.Unit, 10) < string(b.Kind)+strconv.FormatInt(b.Unit, 10)
		}),
	}
	if diff := cmp.Diff(want, got, ignore); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if got.CreatedAt.IsZero() || got.CheckedAt == nil || got.ConfirmedAt == nil || got.Emails[0].AcceptedAt == nil || got.Emails[0].FirstAttemptAt == nil {
		t.Errorf("a time is missing: %+v", got)
	}
}

func TestAccessIsWhatTheGrantsSay(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		states map[order.AccessKind]order.AccessState
		want   order.AccessState
	}{
		{"all granted", map[order.AccessKind]order.AccessState{"download": order.AccessGranted, "license": order.AccessGranted}, order.AccessGranted},
		{"part of it refunded", map[order.AccessKind]order.AccessState{"download": order.AccessGranted, "license": order.AccessRevoked}, order.AccessGranted},
		{"on hold", map[order.AccessKind]order.AccessState{"download": order.AccessHeld, "license": order.AccessHeld}, order.AccessHeld},
		{"part refunded, the rest on hold", map[order.AccessKind]order.AccessState{"download": order.AccessHeld, "license": order.AccessRevoked}, order.AccessHeld},
		{"refunded", map[order.AccessKind]order.AccessState{"download": order.AccessRevoked, "license": order.AccessRevoked}, order.AccessRevoked},
	}
	for _, test := range tests {
		b := newEnv(t).pay().give()
		for kind, state := range test.states {
			b.exec(`UPDATE grants SET state = $3 WHERE session = $1 AND access_kind = $2`, b.key.Session, kind, state)
		}
		if got := b.view().Facts.Access; got != test.want {
			t.Errorf("%s: access is %s, want %s", test.name, got, test.want)
		}
	}
}

func TestStoppedEmailIsToldByWhatIsKnown(t *testing.T) {
	t.Parallel()
	for class, want := range map[order.Class]order.EmailState{
		order.ClassPermanent: order.EmailAttention, order.ClassMisconfigured: order.EmailAttention, order.ClassExhausted: order.EmailAttention,
		order.ClassUnknown: order.EmailUncertain, order.ClassUncertain: order.EmailUncertain, order.ClassPastWindow: order.EmailUncertain,
	} {
		b := newEnv(t).pay().give()
		b.must(b.Stop(t.Context(), b.work(1), "", class, order.ReasonEmailUncertain))
		if got := b.view().Facts.Email; got != want {
			t.Errorf("stopped with %s: the email is %s, want %s", class, got, want)
		}
	}
}

// emailEvent is evidence about a generation, joined by the tags, and by the message's id.
func (b *env) emailEvent(id string, generation string, message string, d order.Delivery) order.EmailEvent {
	e := order.EmailEvent{ID: id + b.key.Session, Type: "email." + string(d), MessageID: message, Delivery: d, OccurredAt: time.Now()}
	if generation != "" {
		e.Tags = map[string]string{order.TagEnvironment: b.key.Environment, order.TagSession: b.key.Session, order.TagGeneration: generation}
	}
	return e
}

func (b *env) tell(events ...order.EmailEvent) {
	b.t.Helper()
	for _, e := range events {
		b.report(e)
	}
}

func TestEvidenceIsJoinedByTagsAndByMessage(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	b.resend(b.request("r1"))
	b.accept(2)
	b.tell(
		b.emailEvent("a", "1", "an id that was lost with the answer", order.DeliveryBounced),
		b.emailEvent("b", "", b.message(2), order.DeliveryDelivered),
		b.emailEvent("c", "", "somebody else's message", order.DeliveryComplained),
	)
	v := b.view()
	if v.Emails[0].Delivery != order.DeliveryBounced || v.Emails[1].Delivery != order.DeliveryDelivered || v.Facts.Delivery != order.DeliveryDelivered {
		t.Errorf("first %q, second %q, the order's %q", v.Emails[0].Delivery, v.Emails[1].Delivery, v.Facts.Delivery)
	}
	if other := b.another().pay().give().accept(1); other.view().Facts.Delivery != order.DeliveryNone {
		t.Errorf("another order has the evidence %q", other.view().Facts.Delivery)
	}
}

func TestLateWeakerEvidenceHidesNothing(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	for _, step := range []struct{ told, want order.Delivery }{
		{order.DeliveryDelayed, order.DeliveryDelayed},
		{order.DeliverySent, order.DeliveryDelayed},
		{order.DeliveryComplained, order.DeliveryComplained},
		{order.DeliveryBounced, order.DeliveryBounced},
		{order.DeliveryDelivered, order.DeliveryBounced},
		{order.DeliveryNone, order.DeliveryBounced},
		{order.DeliveryComplained, order.DeliveryBounced},
		{order.DeliverySent, order.DeliveryBounced},
	} {
		b.tell(b.emailEvent(string(step.told)+string(step.want), "1", b.message(1), step.told))
		if got := b.view().Facts.Delivery; got != step.want {
			t.Errorf("after %q: %q, want %q", step.told, got, step.want)
		}
	}
}

func TestRepeatedEmailEventIsKeptOnce(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	e := b.emailEvent("a", "1", b.message(1), order.DeliveryDelivered)
	errs := make([]error, 10)
	atOnce(10, func(i int) { _, errs[i] = b.RecordEmailEvent(t.Context(), e) })
	b.must(errors.Join(errs...))
	if n := b.count(`SELECT count(*) FROM email_evidence WHERE event_id = $1`, e.ID); n != 1 {
		t.Errorf("kept %d times", n)
	}
}

func TestEvidenceBeforeTheOrderIsNotLost(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	b.tell(b.emailEvent("a", "1", "msg", order.DeliveryDelivered))
	if b.pay().give().accept(1); b.view().Facts.Delivery != order.DeliveryDelivered {
		t.Errorf("got %q", b.view().Facts.Delivery)
	}
}

func TestStrangeTagsDoNotSpoilTheOrder(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	for _, generation := range []string{"0", "-1", "1x", " 1", "one", "21", "99999999999", "9999999999999999999999"} {
		b.tell(b.emailEvent("tag "+generation, generation, "another message", order.DeliveryBounced))
	}
	foreign := b.emailEvent("foreign", "1", "another message", order.DeliveryBounced)
	foreign.Tags[order.TagSession] = "not a session!"
	b.tell(foreign)
	if got := b.view().Facts.Delivery; got != order.DeliveryNone {
		t.Errorf("the order has the evidence %q", got)
	}
}

// An event that the message failed does not say that the provider had taken it.
func TestFailedEventProvesNoAcceptance(t *testing.T) {
	t.Parallel()
	b := newEnv(t).tried(kim)
	if ok, err := b.AcceptByEvidence(t.Context(), b.work(1), ""); err != nil || ok {
		t.Errorf("without an event: %v, %v", ok, err)
	}
	b.tell(b.emailEvent("early", "1", "msg", order.DeliveryFailed))
	if ok, err := b.AcceptByEvidence(t.Context(), b.work(1), ""); err != nil || ok {
		t.Errorf("by a failed event: %v, %v", ok, err)
	}
	b.must(b.Stop(t.Context(), b.work(1), "", order.ClassUncertain, order.ReasonEmailUncertain))
	if e := b.report(b.emailEvent("late", "1", "msg", order.DeliveryFailed)); e.Settled || !e.Ours || b.view().Facts.Email != order.EmailUncertain {
		t.Errorf("a failed event settles: %+v, %s", e, b.view().Facts.Email)
	}
	if e := b.report(b.emailEvent("proof", "1", "msg", order.DeliveryDelivered)); !e.Settled || b.view().Facts.Email != order.EmailAccepted {
		t.Errorf("a delivered one does not: %+v, %s", e, b.view().Facts.Email)
	}
}

// What came back needs a person, once, and only where no newer email is on its way; what the provider could not send at all
// is accepted no more, blames no buyer, and goes again as another email when a person says so.
func TestEmailThatDidNotArriveNeedsAPerson(t *testing.T) {
	t.Parallel()
	for delivery, want := range map[order.Delivery]order.Reason{
		order.DeliveryBounced: order.ReasonEmailBounced, order.DeliverySuppressed: order.ReasonEmailBounced,
		order.DeliveryFailed: order.ReasonEmailConfig, order.DeliveryComplained: "", order.DeliveryDelivered: "", order.DeliveryDelayed: "",
	} {
		t.Run(string(delivery), func(t *testing.T) {
			t.Parallel()
			b := newEnv(t)
			b.pay().give().accept(1)
			e := b.emailEvent("evt_1"+b.key.Session, "1", b.message(1), delivery)
			if got := b.report(e); got.Settled != (want != "") {
				t.Errorf("%+v", got)
			}
			if got := b.report(e); got.Settled {
				t.Error("the same event once more is news")
			}
			v := b.view()
			state := order.EmailAccepted
			if delivery == order.DeliveryFailed {
				state = order.EmailAttention
			}
			if v.Reason != want || v.Facts.Email != state {
				t.Errorf("reason %q, email %q; want %q, %q", v.Reason, v.Facts.Email, want, state)
			}
			if delivery != order.DeliveryFailed {
				return
			}
			b.tell(b.emailEvent("late"+b.key.Session, "1", b.message(1), order.DeliverySent))
			if v := b.view(); v.Facts.Email != order.EmailAttention {
				t.Errorf("a late report that it was taken makes it %q", v.Facts.Email)
			}
			if d := b.retry("again"); d.Outcome != order.OutcomeRetrying || d.Generation != 2 {
				t.Fatalf("retry: %+v", d)
			}
			b.accept(2)
			if v := b.view(); v.Reason != "" || v.Facts.Email != order.EmailAccepted {
				t.Errorf("after it went again: reason %q, email %q", v.Reason, v.Facts.Email)
			}
		})
	}
}

func TestEmailThatCameBackAfterAnotherWentNeedsNobody(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	b.pay().give().accept(1)
	b.resend(b.request("again"))
	if got := b.report(b.emailEvent("evt_1"+b.key.Session, "1", b.message(1), order.DeliveryBounced)); got.Settled || b.view().Reason != "" {
		t.Errorf("%+v, reason %q", got, b.view().Reason)
	}
}

// The provider's report may come before its answer is recorded, or instead of it: what came back needs a person all the same.
func TestEmailThatCameBackBeforeItWasKnownToBeAccepted(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]func(b *env, bounce func()){
		"while the call is under way": func(b *env, bounce func()) {
			claim := b.claim(1)
			bounce()
			b.must(b.Finish(b.t.Context(), b.work(1), claim.Token, b.message(1)))
		},
		"when nobody knows whether it went": func(b *env, bounce func()) {
			b.must(b.Stop(b.t.Context(), b.work(1), "", order.ClassUncertain, order.ReasonEmailUncertain))
			bounce()
		},
		"as the evidence that it went": func(b *env, bounce func()) {
			bounce()
			accepted, err := b.AcceptByEvidence(b.t.Context(), b.work(1), "")
			if b.must(err); !accepted {
				b.t.Error("not accepted by evidence")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newEnv(t)
			b.pay().give()
			known(b, func() { b.report(b.emailEvent("evt_1"+b.key.Session, "1", b.message(1), order.DeliveryBounced)) })
			if v := b.view(); v.Reason != order.ReasonEmailBounced || v.Facts.Email != order.EmailAccepted {
				t.Errorf("reason %q, email %q", v.Reason, v.Facts.Email)
			}
		})
	}
}
