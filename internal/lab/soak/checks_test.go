package soak_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/lab/sandbox"
	"handover/internal/lab/soak"
	"handover/internal/order"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	firstKey  = "AAAAA-BBBBB-CCCCC-DDDDD-EEEEE"
	secondKey = "FFFFF-GGGGG-HHHHH-JJJJJ-KKKKK"
)

// delivered is an order of the guide in two units, as it has to be: a download, two licences and one message.
func delivered(session string) soak.Facts {
	grants := []order.Grant{
		{Product: "guide", Kind: "download", File: "guide.pdf", Unit: 1, State: order.AccessGranted},
		{Product: "guide", Kind: "license", Unit: 1, Secret: session + firstKey, State: order.AccessGranted},
		{Product: "guide", Kind: "license", Unit: 2, Secret: session + secondKey, State: order.AccessGranted},
	}
	return soak.Facts{
		Record: &soak.Record{
			Order: soak.Order{Session: session, Sale: soak.SalePaid, Lines: []soak.Line{{Product: "guide", Quantity: 2}}, Email: "ada@soak.test"},
			Made:  true, Paid: true, Captured: 3800, Money: []soak.MoneyState{{At: noon}},
		},
		Messages: []soak.Message{{Key: "handover/test/" + session + "/email/1", At: noon, Licenses: []string{session + firstKey, session + secondKey}}},
		Keys:     []soak.Key{{Calls: 1, Accepted: 1, Bodies: 1}, {}},
		Known:    true,
		View: order.View{
			Facts:  order.Facts{Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailAccepted},
			Grants: grants, Emails: []order.EmailView{{Generation: 1, State: order.EmailAccepted, Attempts: 1}},
		},
		Door: 200,
	}
}

// refund gives money back in the sandbox's records.
func refund(f *soak.Facts, amount int64) {
	f.Refunds = append(f.Refunds, sandbox.Refund{Amount: amount, Status: "succeeded"})
	f.Money = append(f.Money, soak.MoneyState{At: noon.Add(time.Minute), Refunded: amount})
}

// end ends the access, as the ledger has it.
func end(f *soak.Facts, state order.AccessState, door int) {
	f.View.Facts.Access, f.Door = state, door
	f.View.Grants = slices.Clone(f.View.Grants)
	for i := range f.View.Grants {
		f.View.Grants[i].State = state
	}
	if state == order.AccessRevoked {
		f.EndedAt = noon.Add(2 * time.Minute)
	}
}

// waits marks the order for a person, with its email stopped.
func waits(f *soak.Facts, reason order.Reason, attempts int) {
	f.View.Reason, f.View.Facts.Email, f.Messages, f.Door = reason, order.EmailAttention, nil, 0
	f.View.Emails = []order.EmailView{{Generation: 1, State: order.EmailAttention, Attempts: attempts}}
	f.Keys = []soak.Key{{Calls: attempts, Bodies: 1}, {}}
}

func dispute(f *soak.Facts, status string) { f.Disputes = []sandbox.Dispute{{Status: status}} }

func fault(f *soak.Facts, caught int, fault soak.Fault) {
	f.Order.Faults, f.Fired = []soak.Fault{fault}, []int{caught}
}

var refuses422 = soak.Fault{Target: "resend.send", Mode: "refuse", Status: 422}

func TestTheCheckerHasNothingToSayOfWhatIsRight(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*soak.Facts){
		"delivered": func(*soak.Facts) {},
		"nobody has bought it": func(f *soak.Facts) {
			*f = soak.Facts{Record: &soak.Record{Order: f.Order}}
		},
		"resent on request": func(f *soak.Facts) {
			f.Asked = 1
			f.Messages = append(f.Messages, soak.Message{Key: "handover/test/s/email/2", At: noon, Licenses: f.Messages[0].Licenses})
			f.Keys[1] = soak.Key{Calls: 3, Accepted: 1, Bodies: 1}
			f.View.Emails = append(f.View.Emails, order.EmailView{Generation: 2, State: order.EmailAccepted})
		},
		"refunded in full, and ended": func(f *soak.Facts) { refund(f, 3800); end(f, order.AccessRevoked, 410) },
		"a part refunded, and a person asked": func(f *soak.Facts) {
			refund(f, 1900)
			f.View.Reason = order.ReasonRefundUnclear
		},
		"disputed, and held":                  func(f *soak.Facts) { dispute(f, "needs_response"); end(f, order.AccessHeld, 403) },
		"a refund that failed takes nothing":  func(f *soak.Facts) { f.Refunds = []sandbox.Refund{{Amount: 3800, Status: "failed"}} },
		"an email that was accepted in time":  func(f *soak.Facts) { refund(f, 3800); end(f, order.AccessRevoked, 410); f.Messages[0].At = f.EndedAt },
		"a person restored what was refunded": func(f *soak.Facts) { refund(f, 3800); f.Override = verdict(order.OverrideRestore, 3800) },
		"a refused message waits for a person": func(f *soak.Facts) {
			fault(f, 1, refuses422)
			waits(f, order.ReasonEmailRefused, 1)
		},
		"a failed payment": func(f *soak.Facts) {
			f.Paid, f.Failed, f.Messages, f.Door = false, true, nil, 0
			f.Keys = []soak.Key{{}}
			f.View = order.View{Facts: order.Facts{Payment: order.PaymentFailed, Access: order.AccessPending, Email: order.EmailPending}}
		},
		"nothing of ours": func(f *soak.Facts) {
			f.Order.Lines, f.Messages, f.Door = []soak.Line{{Product: "stranger", Quantity: 1}}, nil, 0
			f.View = order.View{Facts: order.Facts{Payment: order.PaymentIgnored}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := delivered("s")
			change(&f)
			if found := soak.Check([]soak.Facts{f}); len(found) > 0 {
				t.Errorf("the checker finds %+v", found)
			}
		})
	}
}

func verdict(what order.Override, refunded int64) soak.Override {
	return soak.Override{What: what, At: noon.Add(3 * time.Minute), Refunded: refunded}
}

func TestTheCheckerFindsEachKindOfViolation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind  string
		spoil func(*soak.Facts)
	}{
		"paid, and unknown":                               {soak.Lost, func(f *soak.Facts) { f.Known, f.View, f.Messages, f.Keys = false, order.View{}, nil, []soak.Key{{}} }},
		"paid, and still pending":                         {soak.Lost, func(f *soak.Facts) { f.View.Facts.Payment = order.PaymentPending }},
		"paid, and nothing given":                         {soak.Lost, func(f *soak.Facts) { f.View.Facts.Access = order.AccessPending }},
		"given, and no email sent":                        {soak.Lost, func(f *soak.Facts) { f.Messages = nil }},
		"the ledger says accepted, the provider does not": {soak.Lost, func(f *soak.Facts) { f.Messages, f.Keys[0].Accepted = nil, 0 }},
		"a licence too many": {soak.DoubleGrant, func(f *soak.Facts) {
			f.View.Grants = append(slices.Clone(f.View.Grants), order.Grant{Product: "guide", Kind: "license", Unit: 3, Secret: "third"})
		}},
		"a unit given twice": {soak.DoubleGrant, func(f *soak.Facts) { f.View.Grants = append(slices.Clone(f.View.Grants), f.View.Grants[0]) }},
		"another key in the second email": {soak.DoubleGrant, func(f *soak.Facts) {
			f.Asked = 1
			f.View.Emails = append(f.View.Emails, order.EmailView{Generation: 2, State: order.EmailAccepted})
			f.Messages = append(f.Messages, soak.Message{Key: "handover/test/s/email/2", At: noon, Licenses: []string{"another"}})
		}},
		"accepted twice under one key": {soak.DuplicateEmail, func(f *soak.Facts) { f.Keys[0].Accepted = 2 }},
		"two bodies under one key":     {soak.DuplicateEmail, func(f *soak.Facts) { f.Keys[0].Bodies = 2 }},
		"a message that nobody asked for": {soak.DuplicateEmail, func(f *soak.Facts) {
			f.View.Emails = append(f.View.Emails, order.EmailView{Generation: 2, State: order.EmailAccepted})
			f.Messages = append(f.Messages, soak.Message{Key: "handover/test/s/email/2", At: noon})
		}},
		"a message of no generation": {soak.DuplicateEmail, func(f *soak.Facts) {
			f.Asked = 1
			f.Messages = append(f.Messages, f.Messages[0])
		}},
		"open after a full refund":      {soak.MoneyDisagrees, func(f *soak.Facts) { refund(f, 3800) }},
		"open while disputed":           {soak.MoneyDisagrees, func(f *soak.Facts) { dispute(f, "needs_response") }},
		"revoked while disputed":        {soak.MoneyDisagrees, func(f *soak.Facts) { dispute(f, "needs_response"); end(f, order.AccessRevoked, 410) }},
		"open after a lost dispute":     {soak.MoneyDisagrees, func(f *soak.Facts) { dispute(f, "lost") }},
		"open after a person ended it":  {soak.MoneyDisagrees, func(f *soak.Facts) { f.Override = verdict(order.OverrideRevoke, 0) }},
		"one unit ended without cause":  {soak.MoneyDisagrees, func(f *soak.Facts) { f.View.Grants[2].State = order.AccessRevoked }},
		"a link that opens what ended":  {soak.MoneyDisagrees, func(f *soak.Facts) { refund(f, 3800); end(f, order.AccessRevoked, 200) }},
		"a link that does not open":     {soak.MoneyDisagrees, func(f *soak.Facts) { f.Door = 404 }},
		"an override at invented money": {soak.MoneyDisagrees, func(f *soak.Facts) { f.Override = verdict(order.OverrideRestore, 17) }},
		"ended by a refund that failed": {soak.MoneyDisagrees, func(f *soak.Facts) {
			f.Refunds = []sandbox.Refund{{Amount: 3800, Status: "failed"}}
			end(f, order.AccessRevoked, 410)
		}},
		"an email after the end": {soak.AfterTheEnd, func(f *soak.Facts) {
			refund(f, 3800)
			end(f, order.AccessRevoked, 410)
			f.Messages[0].At = f.EndedAt.Add(time.Minute)
		}},
		"refused by nobody": {soak.FalseReason, func(f *soak.Facts) { waits(f, order.ReasonEmailRefused, 1) }},
		"refused, and not said": {soak.FalseReason, func(f *soak.Facts) {
			fault(f, 1, refuses422)
			waits(f, "", 1)
			f.View.Facts.Access = order.AccessGranted
		}},
		"spent before its time": {soak.FalseReason, func(f *soak.Facts) {
			fault(f, 3, soak.Fault{Target: "resend.send", Mode: "refuse", Status: 500})
			waits(f, order.ReasonEmailExhausted, 3)
		}},
		"the settings are right again": {soak.FalseReason, func(f *soak.Facts) { waits(f, order.ReasonEmailConfig, 1) }},
		"a refund nobody made":         {soak.FalseReason, func(f *soak.Facts) { f.View.Reason = order.ReasonRefundUnclear }},
		"a refund nobody asks about":   {soak.FalseReason, func(f *soak.Facts) { refund(f, 1900) }},
		"given before the money":       {soak.NotPaid, func(f *soak.Facts) { f.Paid = false }},
		"something still waits":        {soak.Unsettled, func(f *soak.Facts) { f.Waiting = []string{"email 1, attempt 3"} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := delivered("s")
			c.spoil(&f)
			found := soak.Check([]soak.Facts{delivered("other"), f})
			if !slices.ContainsFunc(found, func(v soak.Violation) bool { return v.Kind == c.kind && v.Order == "test/s" }) {
				t.Errorf("the checker finds %+v, want %q", found, c.kind)
			}
			if slices.ContainsFunc(found, func(v soak.Violation) bool { return v.Order != "test/s" }) {
				t.Errorf("the checker blames another order: %+v", found)
			}
		})
	}
}

func TestALicenceKeyOfAnotherOrderIsFound(t *testing.T) {
	t.Parallel()
	one, two := delivered("one"), delivered("two")
	two.View.Grants[1].Secret = one.View.Grants[1].Secret
	two.Messages[0].Licenses = []string{two.View.Grants[1].Secret, two.View.Grants[2].Secret}
	found := soak.Check([]soak.Facts{one, two})
	want := []soak.Violation{{Kind: soak.DoubleGrant, Order: "test/two", What: "it has a licence key of test/one"}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
