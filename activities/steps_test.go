package activities_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/activities"
	"handover/internal/access"
	"handover/internal/access/download"
	"handover/internal/flow"
	"handover/internal/lab/sandbox"
	"handover/internal/ledger"
	"handover/internal/order"
)

func TestLookAtThePaymentIsRecorded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*sandbox.Session)
		want   outcome
	}{
		"paid":   {nil, outcome{Payment: order.PaymentConfirmed, OpenSeconds: inSeconds(openFor)}},
		"unpaid": {func(s *sandbox.Session) { s.PaymentStatus = "unpaid" }, outcome{Payment: order.PaymentPending, GiveUpSeconds: inSeconds(awaitPayment)}},
		"open": {func(s *sandbox.Session) { s.Status, s.PaymentStatus = "open", "unpaid" },
			outcome{Payment: order.PaymentPending, GiveUpSeconds: inSeconds(awaitPayment)}},
		"expired": {func(s *sandbox.Session) { s.Status, s.PaymentStatus = "expired", "unpaid" },
			outcome{Payment: order.PaymentFailed}},
		"not ours": {func(s *sandbox.Session) { s.Items = []sandbox.Item{{Price: "price_other"}} },
			outcome{Payment: order.PaymentIgnored}},
		"some not ours": {func(s *sandbox.Session) { s.Items = append(s.Items, sandbox.Item{Price: "price_other"}) },
			outcome{Payment: order.PaymentConfirmed, OpenSeconds: inSeconds(openFor), Reason: order.ReasonItemsUnknown}},
		"no address": {func(s *sandbox.Session) { s.Email = "" },
			outcome{Payment: order.PaymentConfirmed, OpenSeconds: inSeconds(openFor), Reason: order.ReasonNoAddress}},
		"live": {func(s *sandbox.Session) { s.Live = true },
			outcome{Payment: order.PaymentAttention, Reason: order.ReasonModeContradicts}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).buy(c.change)
			found, err := b.confirm(activities.ConfirmPaymentInput{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, found); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			if v := b.view(); v.Facts.Payment != c.want.Payment || v.Reason != c.want.Reason {
				t.Errorf("the ledger says %s, reason %q", v.Facts.Payment, v.Reason)
			}
		})
	}
}

// runID is the run that the test environment says it is.
const runID = "default-test-run-id"

func TestConfirmedPaymentIsNotLookedAtAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t).buy(nil)
	for _, c := range []struct {
		name  string
		in    activities.ConfirmPaymentInput
		looks int
	}{
		{"first look of the first run", activities.ConfirmPaymentInput{Origin: runID}, 1},
		{"later look", activities.ConfirmPaymentInput{Origin: runID, Again: true}, 1},
		{"after a reset", activities.ConfirmPaymentInput{Origin: "an earlier run"}, 1},
		// The straight path does not ask the ledger, and looking once too often changes nothing.
		{"first look once more", activities.ConfirmPaymentInput{Origin: runID}, 2},
	} {
		if found, err := b.confirm(c.in); err != nil || found != (outcome{Payment: order.PaymentConfirmed, OpenSeconds: inSeconds(openFor)}) {
			t.Errorf("%s: %+v, %v", c.name, found, err)
		}
		if n := b.sandbox.Counts().Stripe.Retrieves[b.key.Session]; n != c.looks {
			t.Errorf("%s: the session was retrieved %d times, want %d", c.name, n, c.looks)
		}
	}
}

func TestAnswersOfThePaymentProviderDecideWhatFollows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		code   string
		class  order.Class
		reason order.Reason
	}{
		{500, "", order.ClassRetry, ""},
		{409, "lock_timeout", order.ClassRetry, ""},
		{401, "", order.ClassMisconfigured, order.ReasonPaymentConfig},
		{403, "", order.ClassMisconfigured, order.ReasonPaymentConfig},
		{404, "resource_missing", order.ClassPermanent, order.ReasonPaymentStopped},
		{400, "parameter_invalid", order.ClassPermanent, order.ReasonPaymentStopped},
	} {
		t.Run(fmt.Sprint(c.status), func(t *testing.T) {
			t.Parallel()
			b := newBench(t).buy(nil)
			_, err := b.ledger.StoreEvent(t.Context(), ledger.WebhookEvent{
				Environment: "test", ID: "evt_" + b.key.Session, Type: "checkout.session.completed", Kind: "checkout", Session: b.key.Session})
			b.must(err)
			b.fault(sandbox.Fault{Target: "stripe.session", Mode: "refuse", Status: c.status, Times: 1, Body: fmt.Sprintf(
				`{"error":{"type":"api_error","code":%q,"message":"No such session for %s with %s"}}`, c.code, buyer, stripeKey)})
			_, err = b.confirm(activities.ConfirmPaymentInput{})
			b.wants(err, c.class)
			v := b.view()
			if v.Reason != c.reason || (v.Facts.Payment == order.PaymentAttention) != (c.reason != "") {
				t.Errorf("payment %s, reason %q; want reason %q", v.Facts.Payment, v.Reason, c.reason)
			}
			if found, err := b.confirm(activities.ConfirmPaymentInput{}); err != nil || found.Payment != order.PaymentConfirmed {
				t.Errorf("the next look: %+v, %v", found, err)
			}
			if v := b.view(); v.Reason != "" || v.Facts.Payment != order.PaymentConfirmed {
				t.Errorf("afterwards: payment %s, reason %q", v.Facts.Payment, v.Reason)
			}
		})
	}
}

func TestLimitOfThePaymentProviderIsWaitedOut(t *testing.T) {
	t.Parallel()
	b := newBench(t).buy(nil)
	b.fault(sandbox.Fault{Target: "stripe.session", Mode: "rate_limit", RetryAfter: 9, Times: 1})
	want := outcome{WaitSeconds: 10, GiveUpSeconds: inSeconds(awaitPayment)} // with a little jitter
	if found, err := b.confirm(activities.ConfirmPaymentInput{}); err != nil || found != want {
		t.Errorf("found %+v, %v; want %+v", found, err, want)
	}
}

func TestWaitForTheStateOfTheMoneySaysWhenItIsGivenUp(t *testing.T) {
	t.Parallel()
	b := newBench(t).granted()
	b.fault(sandbox.Fault{Target: "stripe.payment_intent", Mode: "rate_limit", RetryAfter: 9, Times: 1})
	want := outcome{WaitSeconds: 10, GiveUpSeconds: inSeconds(giveUp)}
	found, err := attemptAt(t, b.worker().CheckReversal, activities.CheckReversalInput{Key: b.key})
	if err != nil || found != want {
		t.Errorf("found %+v, %v; want %+v", found, err, want)
	}
}

func TestEnvironmentThatThisWorkerDoesNotHaveIsTheShopsToMend(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.key.Environment = "other"
	_, err := b.confirm(activities.ConfirmPaymentInput{Key: b.key})
	b.wants(err, order.ClassMisconfigured)
}

func TestAccessIsGivenOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t).granted()
	before := b.view().Grants
	if len(before) != 3 { // one file, and two units' licence keys
		t.Fatalf("%d grants, want 3", len(before))
	}
	if given, err := b.grant(); err != nil || given.Access != order.AccessGranted {
		t.Errorf("the second run: %+v, %v", given, err)
	}
	if diff := cmp.Diff(before, b.view().Grants); diff != "" {
		t.Errorf("the second run changed the grants (-before +after):\n%s", diff)
	}
}

// A worker of an older version may not know every kind that is owed. It must not say that access is as good as given.
func TestAccessOfAnUnknownKindIsLeftToAWorkerThatKnowsIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.products[0].Access = b.products[0].Access[1:] // licences only
	b.buy(nil)
	if _, err := b.confirm(activities.ConfirmPaymentInput{}); err != nil {
		t.Fatal(err)
	}
	b.kinds = []access.Local{download.New()}
	_, err := b.grant()
	b.wants(err, order.ClassRetry)
}

type failing struct{ err error }

func (failing) Kind() order.AccessKind                             { return "license" }
func (f failing) Issue(order.Entitlement) ([]access.Issued, error) { return nil, f.err }

func TestAccessThatCannotBeMadeLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t).buy(nil)
	if _, err := b.confirm(activities.ConfirmPaymentInput{}); err != nil {
		t.Fatal(err)
	}
	b.kinds = []access.Local{download.New(), failing{errors.New("the source of randomness failed")}}
	_, err := b.grant()
	b.wants(err, order.ClassRetry)
	if v := b.view(); len(v.Grants) != 0 || v.Facts.Access != order.AccessPending {
		t.Errorf("%d grants, access %s; want nothing", len(v.Grants), v.Facts.Access)
	}
}

func TestStoppedStepIsMarkedWithItsReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step   order.Step
		class  order.Class
		given  order.Reason
		reason order.Reason
	}{
		{"payment", order.ClassExhausted, order.ReasonPaymentOverdue, order.ReasonPaymentOverdue},
		{"payment", order.ClassExhausted, "", order.ReasonPaymentStopped},
		{"access", order.ClassExhausted, "", order.ReasonAccessStopped},
		{"email", order.ClassExhausted, "", order.ReasonEmailExhausted},
		{"email", order.ClassUncertain, "", order.ReasonEmailUncertain},
	} {
		t.Run(fmt.Sprint(c.step, c.reason), func(t *testing.T) {
			t.Parallel()
			b := newBench(t).buy(func(s *sandbox.Session) {
				if c.step == "payment" {
					s.PaymentStatus = "unpaid"
				}
			})
			if _, err := b.confirm(activities.ConfirmPaymentInput{}); err != nil {
				t.Fatal(err)
			}
			if c.step == "email" {
				if _, err := b.grant(); err != nil {
					t.Fatal(err)
				}
			}
			in := activities.StopStepInput{Key: b.key, Step: c.step, Generation: 1, Class: c.class, Reason: c.given}
			for range 2 { // what is stopped stays as it is
				stopped, err := attemptAt(t, b.worker().StopStep, in)
				if err != nil || stopped.Reason != c.reason {
					t.Fatalf("stopped %+v, %v; want %s", stopped, err, c.reason)
				}
			}
			if v := b.view(); v.Reason != c.reason || v.Class != c.class || v.AttentionAt == nil {
				t.Errorf("reason %s, class %s", v.Reason, v.Class)
			}
		})
	}
}

func TestWhatIsFinishedIsNotStopped(t *testing.T) {
	t.Parallel()
	b := newBench(t).granted()
	if _, err := b.send(1); err != nil {
		t.Fatal(err)
	}
	for _, step := range []order.Step{order.StepPayment, order.StepAccess, order.StepEmail} {
		in := activities.StopStepInput{Key: b.key, Step: step, Generation: 1, Class: order.ClassExhausted}
		if _, err := attemptAt(t, b.worker().StopStep, in); err != nil {
			t.Fatal(err)
		}
	}
	want := order.Facts{Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailAccepted}
	if v := b.view(); v.Facts != want || v.Reason != "" {
		t.Errorf("facts %+v, reason %q", v.Facts, v.Reason)
	}
}

func TestRequestsAreDecidedOnceAndWrittenDown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	decide := func(id string, refusal order.Refusal) flow.Answer {
		t.Helper()
		got, err := execute[activities.DecideRequestResult](t, b.worker().DecideRequest,
			activities.DecideRequestInput{Key: b.key, Kind: flow.KindResend, RequestID: id, Reason: "the buyer asked", Refusal: refusal})
		b.must(err)
		return got.Answer
	}
	refused := func(r order.Refusal) flow.Answer {
		return flow.Answer{Outcome: order.OutcomeRefused, Refusal: r, Says: r.Message()}
	}
	if diff := cmp.Diff(refused(order.RefusedUnpaid), decide("early", "")); diff != "" {
		t.Errorf("before payment (-want +got):\n%s", diff)
	}
	b.granted()
	for _, c := range []struct {
		id      string
		refusal order.Refusal
		want    flow.Answer
	}{
		{"unreadable", order.RefusedUnreadable, refused(order.RefusedUnreadable)},
		{"one", "", flow.Answer{Outcome: order.OutcomeJoined, Generation: 1}},
		{"one", "", flow.Answer{Outcome: order.OutcomeJoined, Generation: 1, Repeated: true}},
	} {
		if diff := cmp.Diff(c.want, decide(c.id, c.refusal)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.id, diff)
		}
	}
	if _, err := b.send(1); err != nil {
		t.Fatal(err)
	}
	want := flow.Answer{Outcome: order.OutcomeSending, Generation: 2}
	if diff := cmp.Diff(want, decide("two", "")); diff != "" {
		t.Errorf("two (-want +got):\n%s", diff)
	}
	audit, err := b.ledger.Audit(t.Context(), b.key)
	b.must(err)
	var what []string
	for _, entry := range audit {
		if entry.Who != "temporal" || entry.Why != "the buyer asked" {
			t.Errorf("written down: %+v", entry)
		}
		what = append(what, entry.What)
	}
	wantAudit := []string{
		"resend: refused payment_not_confirmed (unknown order)", "resend: refused payload_not_readable (nothing was done)",
		"resend: joined (generation 1: under way)", "resend: sending (generation 1: accepted)",
	}
	if diff := cmp.Diff(wantAudit, what); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

func TestResumedRunIsToldWhatIsDone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	read := func() outcome {
		t.Helper()
		got, err := attemptAt(t, b.worker().ReadOrder, activities.ReadOrderInput{Key: b.key})
		b.must(err)
		return got
	}
	unknown := outcome{Payment: order.PaymentPending, Access: order.AccessPending, Email: order.EmailPending, Generation: 1}
	if diff := cmp.Diff(unknown, read()); diff != "" {
		t.Errorf("it is unknown to the ledger (-want +got):\n%s", diff)
	}
	b.granted()
	if _, err := b.send(1); err != nil {
		t.Fatal(err)
	}
	if _, err := b.resend("req_1"); err != nil {
		t.Fatal(err)
	}
	got := read()
	if got.OpenSeconds < 719*3600 || got.OpenSeconds > 720*3600 {
		t.Errorf("open for %d seconds more, want nearly 30 days", got.OpenSeconds)
	}
	got.OpenSeconds = 0
	want := outcome{Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailPending, Generation: 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after a resend (-want +got):\n%s", diff)
	}
	b.exec(`UPDATE orders SET confirmed_at = now() - interval '31 days' WHERE session = $1`, b.key.Session)
	if got := read(); got.OpenSeconds != 0 {
		t.Errorf("after 31 days still open for %d seconds", got.OpenSeconds)
	}
}

func TestLicenceKeysOfATestSaleAreMarked(t *testing.T) {
	t.Parallel()
	b := newBench(t).granted()
	v, err := b.ledger.Order(t.Context(), b.key)
	b.must(err)
	keys := 0
	for _, g := range v.Grants {
		if g.Secret != "" {
			keys++
			if !strings.HasPrefix(g.Secret, "TEST-") {
				t.Errorf("a key of a test sale is not marked")
			}
		}
	}
	if keys == 0 {
		t.Error("there is no licence key")
	}
}
