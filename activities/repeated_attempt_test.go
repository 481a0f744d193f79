package activities_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"

	"handover/activities"
	"handover/internal/flow"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// attempt is one attempt at a step; again is one that follows another of the same step.
type attempt func(b *bench, again bool) (any, error)

func confirming(b *bench, again bool) (any, error) {
	return b.confirm(activities.ConfirmPaymentInput{Origin: runID, Again: again})
}

func granting(b *bench, _ bool) (any, error) { return b.grant() }

func sending(b *bench, _ bool) (any, error) { return b.send(1) }

func reviewing(b *bench, _ bool) (any, error) {
	return withoutTime(attemptAt(b.t, b.worker().CheckReversal, activities.CheckReversalInput{Key: b.key}))
}

// withoutTime leaves out for how long the run still listens, which is less from one attempt to the next.
func withoutTime(o outcome, err error) (any, error) {
	o.OpenSeconds = 0
	return o, err
}

func changing(b *bench, _ bool) (any, error) {
	return withoutTime(attemptAt(b.t, b.worker().ChangeAccess, activities.ChangeAccessInput{Key: b.key}))
}

// deciding answers a request. That a decision was taken before is the one thing that only a repetition says.
func deciding(kind string, refusal order.Refusal) attempt {
	return func(b *bench, _ bool) (any, error) {
		d, err := execute[activities.DecideRequestResult](b.t, b.worker().DecideRequest,
			activities.DecideRequestInput{Key: b.key, Kind: kind, RequestID: "asked/1", Reason: "the buyer asked", Refusal: refusal})
		d.Repeated, d.Snapshot.AsOf, d.OpenSeconds = false, 0, 0
		return d, err
	}
}

// before are the steps that went well before the one under test.
func before(steps ...attempt) func(*bench) {
	return func(b *bench) {
		b.t.Helper()
		b.buy(nil)
		for _, step := range steps {
			_, err := step(b, false)
			b.must(err)
		}
	}
}

func refunding(amount int64) attempt {
	return func(b *bench, _ bool) (any, error) {
		return b.sandbox.Refund(sandbox.Refund{Session: b.key.Session, Amount: amount})
	}
}

func disputing(status string) attempt {
	return func(b *bench, _ bool) (any, error) {
		return b.sandbox.Dispute(sandbox.Dispute{Session: b.key.Session, Status: status})
	}
}

// buying is a sale that is not the plain one.
func buying(change func(*sandbox.Session)) func(*bench) { return func(b *bench) { b.buy(change) } }

func refusedEmail(b *bench) {
	before(confirming, granting)(b)
	b.fault(quoting(422, "validation_error"))
}

// An attempt can do its work and lose its answer: the connection breaks, or the worker is killed after the commit. The
// next attempt is then the one whose answer the workflow goes by, so it has to be the same answer.
func TestRepeatedAttemptGivesTheAnswerThatWasLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(*bench)
		step   attempt
	}{
		"paid":                             {before(), confirming},
		"paid, and all of it given back":   {before(refunding(0)), confirming},
		"paid, and a part given back":      {before(refunding(100)), confirming},
		"paid, and disputed":               {before(disputing("needs_response")), confirming},
		"paid, and the bank inquires":      {before(disputing("warning_needs_response")), confirming},
		"paid, and reviewed":               {before(refunding(100), confirming, reviewing), confirming},
		"on its way":                       {buying(func(s *sandbox.Session) { s.PaymentStatus = "unpaid" }), confirming},
		"not ours":                         {buying(func(s *sandbox.Session) { s.Items = []sandbox.Item{{Price: "price_other"}} }), confirming},
		"some not ours":                    {buying(func(s *sandbox.Session) { s.Items = append(s.Items, sandbox.Item{Price: "price_other"}) }), confirming},
		"no address":                       {buying(func(s *sandbox.Session) { s.Email = "" }), confirming},
		"of the other mode":                {buying(func(s *sandbox.Session) { s.Live = true }), confirming},
		"access":                           {before(confirming), granting},
		"access after a part was refunded": {before(refunding(100), confirming, reviewing), granting},
		"email":                            {before(confirming, granting), sending},
		"email that was refused":           {refusedEmail, sending},
		"email that is not wanted now":     {before(confirming, granting, refunding(0), reviewing, changing), sending},
		"nothing came of the money":        {before(confirming, granting), reviewing},
		"review of a refund":               {before(confirming, granting, refunding(0)), reviewing},
		"review of a dispute":              {before(confirming, granting, disputing("needs_response")), reviewing},
		"review before the payment":        {before(), reviewing},
		"nothing to change":                {before(confirming, granting), changing},
		"access that ends":                 {before(confirming, granting, refunding(0), reviewing), changing},
		"access that is held":              {before(confirming, granting, disputing("needs_response"), reviewing), changing},
		"resend":                           {before(confirming, granting, sending), deciding(flow.KindResend, "")},
		"resend while one is under way":    {before(confirming, granting), deciding(flow.KindResend, "")},
		"retry with nothing stopped":       {before(confirming, granting, sending), deciding(flow.KindRetry, "")},
		"retry of a refused email":         {func(b *bench) { refusedEmail(b); _, _ = b.send(1) }, deciding(flow.KindRetry, "")},
		"revoke":                           {before(confirming, granting, sending), deciding(flow.KindRevoke, "")},
		"restore":                          {before(confirming, granting, sending, refunding(0), reviewing, changing), deciding(flow.KindRestore, "")},
		"relink":                           {before(confirming, granting, sending), deciding(flow.KindRelink, "")},
		"a request nobody understands":     {before(confirming, granting), deciding(flow.KindResend, order.RefusedAddress)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c.before(b)
			lost, lostErr := c.step(b, false)
			found, err := c.step(b, true)
			if diff := cmp.Diff(lost, found); diff != "" || class(lostErr) != class(err) {
				t.Errorf("%s after %s (-lost +found):\n%s", class(err), class(lostErr), diff)
			}
			failed := err != nil
			if want := strings.HasSuffix(name, "refused"); failed != want {
				t.Errorf("the step failed: %v, want %v", err, want)
			}
		})
	}
}

// A missed sale may be refunded before it is found. Whichever attempt's answer arrives, the refund is read
// before anything is given.
func TestEveryAnswerOfAConfirmedPaymentSaysThatTheMoneyMayHaveGoneBack(t *testing.T) {
	t.Parallel()
	b := newBench(t).buy(nil)
	_, err := b.sandbox.Refund(sandbox.Refund{Session: b.key.Session})
	b.must(err)
	want := outcome{Payment: order.PaymentConfirmed, ReversalDue: true, OpenSeconds: inSeconds(openFor)}
	for _, in := range []activities.ConfirmPaymentInput{{Origin: runID}, {Origin: runID, Again: true}, {Origin: "an earlier run"}} {
		if found, err := b.confirm(in); err != nil || found != want {
			t.Errorf("%+v: %+v, %v; want %+v", in, found, err, want)
		}
	}
}

// class is the class of a step's failure, empty for none.
func class(err error) string {
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		return application.Type()
	}
	return ""
}
