package workflows_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/order"
)

func TestResendBeforePaymentIsRefusedAndSaidSo(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.confirm = pendingUntil(3)
	var updated *answer
	var said string
	s.at(2*time.Minute, func() { s.resend(`{"reason":"too early","request_id":"req_1"}`) })
	s.at(3*time.Minute, func() {
		said = s.details()
		updated = s.update("early", `{"reason":"too early"}`)
	})
	s.run()
	if !strings.Contains(said, "A resend was refused: the payment is not confirmed.") {
		t.Errorf("details do not say that the signal was refused:\n%s", said)
	}
	if updated.accepted || updated.rejected == nil || !strings.Contains(updated.rejected.Error(), "the payment is not confirmed") {
		t.Errorf("update: %+v, want it rejected", updated)
	}
	if n := s.world.count("DecideRequest"); n != 1 {
		t.Errorf("decided %d requests, want the signal's only: a rejected update leaves nothing", n)
	}
	if len(s.world.emails) != 1 || s.open() {
		t.Errorf("%d generations, open %v; want the order delivered as if nothing had been asked", len(s.world.emails), s.open())
	}
}

func TestUpdateIsRejectedWhileAccessIsNotGranted(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.failing("GrantAccess", always, failure(order.ClassPermanent))
	var updated *answer
	s.at(day, func() { updated = s.update("early", `{"reason":"please"}`) })
	s.run()
	if updated.accepted || updated.rejected == nil || !strings.Contains(updated.rejected.Error(), "access is not granted") {
		t.Errorf("update: %+v, want it rejected", updated)
	}
}

func TestPayloadThatCannotBeActedOnIsRefusedVisibly(t *testing.T) {
	t.Parallel()
	long, err := json.Marshal(map[string]string{"reason": strings.Repeat("r", 10_000)})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		payload string
		refusal order.Refusal
	}{
		"plain string":              {`please`, order.RefusedUnreadable},
		"JSON string":               {`"please"`, order.RefusedUnreadable},
		"number":                    {`7`, order.RefusedUnreadable},
		"list":                      {`[{"reason":"please"}]`, order.RefusedUnreadable},
		"wrong type":                {`{"reason":7}`, order.RefusedUnreadable},
		"unknown field":             {`{"reason":"please","generation":7}`, order.RefusedUnreadable},
		"two values":                {`{"reason":"please"}{"reason":"again"}`, order.RefusedUnreadable},
		"cut off":                   {`{"reason":"plea`, order.RefusedUnreadable},
		"10 kB reason":              {string(long), order.RefusedUnreadable},
		"unusable request id":       {`{"reason":"please","request_id":"no spaces"}`, order.RefusedUnreadable},
		"address as a field":        {`{"reason":"typo","to":"alex@example.com"}`, order.RefusedAddress},
		"address that is none":      {`{"reason":"typo","to":"alex at example"}`, order.RefusedAddress},
		"field named email":         {`{"reason":"typo","email":null}`, order.RefusedAddress},
		"field named address":       {`{"reason":"typo","address":""}`, order.RefusedAddress},
		"address in the reason":     {`{"reason":"it is alex@example.com"}`, order.RefusedAddress},
		"address as a plain string": {`alex@example.com`, order.RefusedAddress},
		"escaped address":           {`{"reason":"it is alex\u0040example.com"}`, order.RefusedAddress},
		"address in the request id": {`{"reason":"typo","request_id":"alex@example.com"}`, order.RefusedAddress},
		"missing reason":            {`{}`, order.RefusedNoReason},
		"blank reason":              {`{"reason":"  "}`, order.RefusedNoReason},
		"null":                      {`null`, order.RefusedNoReason},
		"empty":                     {``, order.RefusedNoReason},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t)
			var updated *answer
			s.at(2*day, func() { s.resend(c.payload) })
			s.at(3*day, func() { updated = s.update("id", c.payload) })
			s.run()
			if diff := cmp.Diff(after("DecideRequest signal/first-run/1"), s.trace.all()); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			if got := s.world.decided["signal/first-run/1"].Refusal; got != c.refusal {
				t.Errorf("the ledger recorded %q, want %q", got, c.refusal)
			}
			says, command, _ := strings.Cut(c.refusal.Message(), ": starter ")
			command = strings.ReplaceAll(command, "ORDER", "test/cs_test_a1")
			if want := "A resend was refused: " + says; !strings.Contains(s.details(), want) || !strings.Contains(s.details(), command) {
				t.Errorf("details lack %q:\n%s", want, s.details())
			}
			if updated.accepted || updated.rejected == nil || !strings.Contains(updated.rejected.Error(), c.refusal.Message()) {
				t.Errorf("update: %+v, want it rejected: %s", updated, c.refusal.Message())
			}
		})
	}
}

// What a refused payload holds must not get into the history by another way.
func TestRefusedPayloadIsNotPassedOn(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	var passed []string
	s.SetOnActivityStartedListener(listen(func(name string, in string) {
		if name == "DecideRequest" {
			passed = append(passed, in)
		}
	}))
	s.at(day, func() { s.resend(`{"reason":"it is alex@example.com","request_id":"alex@example.com"}`) })
	s.run()
	if len(passed) != 1 || strings.Contains(passed[0], "alex") {
		t.Errorf("the activity was given %v", passed)
	}
}
