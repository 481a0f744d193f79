package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/ledger"
	"handover/internal/order"
)

var update = flag.Bool("update", false, "write the golden files")

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// What no text may hold.
const (
	alex   = "alex+shop@example.com"
	kim    = "kim@example.org"
	secret = "K3Y5-ABCD-EFGH-JKLM"
)

func ago(d time.Duration) *time.Time {
	at := noon.Add(-d)
	return &at
}

// bought is an order as it is a quarter of an hour after its delivery.
func bought(change ...func(*order.View)) order.View {
	v := order.View{
		Key:   order.Key{Environment: "live", Session: "cs_live_a1b2c3"},
		Facts: order.Facts{Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailAccepted},
		Total: order.Money{Minor: 2900, Currency: "eur"}, Paid: 2900, PaymentRef: "pi_3Nabc", Address: alex,
		CreatedAt: *ago(15*time.Minute + 3*time.Second), ConfirmedAt: ago(15 * time.Minute),
		Items: []order.Item{{Line: 1, Refs: []string{"price_1Abc"}, Product: "field-guide", Name: "The Field Guide", Quantity: 2}},
		Grants: []order.Grant{
			{ID: 7, Product: "field-guide", Kind: "download", File: "field-guide.pdf", Unit: 1, State: order.AccessGranted},
			{ID: 8, Product: "field-guide", Kind: "license", Secret: secret, Unit: 1, State: order.AccessGranted},
			{ID: 9, Product: "field-guide", Kind: "license", Secret: secret + "-2", Unit: 2, State: order.AccessGranted},
		},
		Emails: []order.EmailView{{
			Generation: 1, State: order.EmailAccepted, Attempts: 1, FirstAttemptAt: ago(15 * time.Minute), AcceptedAt: ago(15 * time.Minute), Address: alex,
		}},
	}
	for _, c := range change {
		c(&v)
	}
	return v
}

// unpaid takes away what comes with the payment.
func unpaid(state order.PaymentState, processing bool) func(*order.View) {
	return func(v *order.View) {
		v.Facts = order.Pending()
		v.Facts.Payment, v.Facts.Processing = state, processing
		v.ConfirmedAt, v.Grants, v.Emails = nil, nil, nil
		if state != order.PaymentIgnored {
			v.Items = nil
		} else {
			v.Items[0].Product = ""
		}
	}
}

func attention(reason order.Reason, class order.Class) func(*order.View) {
	return func(v *order.View) { v.Reason, v.Class, v.AttentionAt = reason, class, ago(3*time.Hour) }
}

// unsent has the email stopped, or under way, after so many attempts.
func unsent(state order.EmailState, class order.Class, attempts int) func(*order.View) {
	return func(v *order.View) {
		v.Facts.Email = state
		e := &v.Emails[0]
		e.State, e.Class, e.Attempts, e.AcceptedAt = state, class, attempts, nil
	}
}

func grants(state order.AccessState) func(*order.View) {
	return func(v *order.View) {
		v.Facts.Access = state
		for i := range v.Grants {
			v.Grants[i].State = state
		}
	}
}

func evidence(d order.Delivery) func(*order.View) {
	return func(v *order.View) { v.Facts.Delivery, v.Emails[len(v.Emails)-1].Delivery = d, d }
}

// states are the orders an operator meets.
var states = []struct {
	name  string
	view  order.View
	audit []ledger.AuditEntry
}{
	{"waiting", bought(unpaid(order.PaymentPending, false), func(v *order.View) { v.Total, v.PaymentRef, v.Address = order.Money{}, "", "" }), nil},
	{"processing", bought(unpaid(order.PaymentPending, true)), nil},
	{"failed", bought(unpaid(order.PaymentFailed, false)), nil},
	{"ignored", bought(unpaid(order.PaymentIgnored, false)), nil},
	{"payment_misconfigured", bought(unpaid(order.PaymentAttention, false), attention(order.ReasonPaymentConfig, order.ClassMisconfigured)), nil},
	{"payment_overdue", bought(unpaid(order.PaymentAttention, true), attention(order.ReasonPaymentOverdue, order.ClassExhausted)), nil},
	{"items_unknown", bought(attention(order.ReasonItemsUnknown, order.ClassPermanent), func(v *order.View) {
		v.Facts.Access, v.Facts.Email, v.Grants, v.Emails = order.AccessAttention, order.EmailPending, nil, nil
		v.Items = append(v.Items, order.Item{Line: 2, Refs: []string{"price_9Xyz", "prod_9Xyz"}, Quantity: 1})
	}), nil},
	{"preparing", bought(func(v *order.View) {
		v.Facts.Access, v.Facts.Email, v.Grants = order.AccessPending, order.EmailPending, nil
		v.Emails = []order.EmailView{{Generation: 1, State: order.EmailPending}}
	}), nil},
	{"email_under_way", bought(unsent(order.EmailPending, order.ClassUnknown, 3)), nil},
	{"email_limited", bought(unsent(order.EmailPending, order.ClassRateLimited, 0)), nil},
	{"email_spent", bought(unsent(order.EmailAttention, order.ClassExhausted, 8), attention(order.ReasonEmailExhausted, order.ClassExhausted)), nil},
	{"email_refused", bought(unsent(order.EmailAttention, order.ClassPermanent, 1), attention(order.ReasonEmailRefused, order.ClassPermanent)), nil},
	{"email_uncertain", bought(unsent(order.EmailUncertain, order.ClassPastWindow, 5), attention(order.ReasonEmailUncertain, order.ClassPastWindow)), nil},
	{"no_address", bought(unsent(order.EmailAttention, order.ClassPermanent, 0), attention(order.ReasonNoAddress, order.ClassPermanent),
		func(v *order.View) { v.Address, v.Emails[0].Address = "", "" }), nil},
	{"delivered", bought(evidence(order.DeliveryDelivered)), nil},
	{"bounced_and_readdressed", bought(func(v *order.View) {
		v.Address = kim
		v.Emails[0].Delivery, v.Emails[0].Detail = order.DeliveryBounced, "permanent"
		v.Emails = append(v.Emails,
			order.EmailView{Generation: 2, State: order.EmailAttention, Superseded: true, Attempts: 1, Class: order.ClassUnknown, FirstAttemptAt: ago(9 * time.Minute), Address: alex},
			order.EmailView{Generation: 3, State: order.EmailAccepted, Attempts: 1, FirstAttemptAt: ago(5 * time.Minute), AcceptedAt: ago(5 * time.Minute), Address: kim})
	}, evidence(order.DeliverySent)), []ledger.AuditEntry{
		{At: *ago(9 * time.Minute), Who: "buyer", What: "resend: sending (generation 1: accepted)", Why: "asked for on the order page"},
		{At: *ago(5 * time.Minute), Who: "sam", What: "resend: sending (generation 2: under way, last failure unknown_outcome)", Why: "the buyer mistyped the address"},
	}},
	{"on_hold", bought(grants(order.AccessHeld)), nil},
	{"part_refunded", bought(func(v *order.View) {
		v.Refunded, v.RefundPending, v.Dispute, v.Reason, v.AttentionAt = 900, 100, order.DisputeInquiry, order.ReasonRefundUnclear, ago(3*time.Hour)
		v.Grants[len(v.Grants)-1].State = order.AccessRevoked
	}), nil},
	{"refunded", bought(grants(order.AccessRevoked), func(v *order.View) {
		v.Refunded, v.Dispute = v.Total.Minor, order.DisputeWon
		v.CreatedAt, v.ConfirmedAt, v.Emails[0].AcceptedAt = *ago(90 * 24 * time.Hour), ago(90*24*time.Hour), ago(30*time.Hour)
	}), nil},
}

func TestStatusSaysWhatAnOperatorNeeds(t *testing.T) {
	t.Parallel()
	for _, s := range states {
		var out bytes.Buffer
		printStatus(&out, s.view, s.audit, noon)
		golden(t, "status_"+s.name, out.Bytes())
	}
}

func TestStatusCallsARefundFullAsThePageDoes(t *testing.T) {
	t.Parallel()
	for refunded, full := range map[int64]bool{1900: false, 2000: true} {
		var out bytes.Buffer
		printStatus(&out, bought(grants(order.AccessRevoked), func(v *order.View) { v.Paid, v.Refunded = 2000, refunded }), nil, noon)
		if strings.Contains(out.String(), "The buyer sees: Refunded: access has ended") != full {
			t.Errorf("%d of 2000 refunded, of a total of 2900:\n%s", refunded, out.String())
		}
	}
}

func TestListSaysWhatWaits(t *testing.T) {
	t.Parallel()
	views := make([]order.View, len(states))
	for i, s := range states {
		views[i] = s.view
		views[i].Key.Session += "_" + s.name
	}
	var all, none bytes.Buffer
	printList(&all, views, noon)
	golden(t, "list", all.Bytes())
	printList(&none, nil, noon)
	golden(t, "list_empty", none.Bytes())
}

func TestAFaultInTheSettingsIsListedOnce(t *testing.T) {
	t.Parallel()
	held := func(session string, hours time.Duration) order.View {
		v := bought(unsent(order.EmailAttention, order.ClassMisconfigured, 1), attention(order.ReasonEmailConfig, order.ClassMisconfigured))
		v.Key.Session, v.AttentionAt = session, ago(hours*time.Hour)
		return v
	}
	other := bought(unsent(order.EmailAttention, order.ClassPermanent, 1), attention(order.ReasonEmailRefused, order.ClassPermanent))
	another := other
	another.Key.Session = "cs_live_d4"
	var out bytes.Buffer
	printList(&out, []order.View{held("cs_live_a1", 9), other, held("cs_live_b2", 7), another, held("cs_live_c3", 5)}, noon)
	golden(t, "list_settings", out.Bytes())
	text := out.String()
	if n := strings.Count(text, "retry --misconfigured"); n != 1 {
		t.Errorf("what to do about the settings is said %d times", n)
	}
	if n := strings.Count(text, "--to ADDRESS"); n != 2 {
		t.Errorf("what to do about two orders is said %d times", n)
	}
}

func TestListAsJSONNamesReasonAndNextStep(t *testing.T) {
	t.Parallel()
	v := bought(unsent(order.EmailAttention, order.ClassExhausted, 8), attention(order.ReasonEmailExhausted, order.ClassExhausted))
	text, err := json.Marshal(listed([]order.View{v, bought()}, noon))
	if err != nil {
		t.Fatal(err)
	}
	holdsNothingPrivate(t, "the list", text)
	var got []map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	fact := func(state string) map[string]any { return map[string]any{"state": state} }
	want := []map[string]any{
		{
			"order": "live/cs_live_a1b2c3", "payment": fact("confirmed"), "access": fact("granted"),
			"email": map[string]any{"state": "needs_attention", "delivery": ""}, "customer_state": "ready_email_pending",
			"age_seconds": 903.0, "waiting_seconds": 10800.0, "reason": "email_attempts_spent", "step": "email",
			"next": "The email provider kept failing. When it works again: starter retry live/cs_live_a1b2c3 --reason TEXT",
		},
		{
			"order": "live/cs_live_a1b2c3", "payment": fact("confirmed"), "access": fact("granted"),
			"email": map[string]any{"state": "accepted", "delivery": ""}, "customer_state": "ready", "age_seconds": 903.0, "waiting_seconds": 0.0,
			"reason": "", "step": "", "next": "",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	if empty, err := json.Marshal(listed(nil, noon)); err != nil || string(empty) != "[]" {
		t.Errorf("an empty list is %s, %v", empty, err)
	}
}

func TestGenerationThatIsNotThereIsPending(t *testing.T) {
	t.Parallel()
	if got := generationState(bought(), 1); got != order.EmailAccepted {
		t.Errorf("generation 1: %s", got)
	}
	if got := generationState(bought(), 2); got != order.EmailPending {
		t.Errorf("generation 2: %s", got)
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	holdsNothingPrivate(t, name, got)
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// holdsNothingPrivate: a terminal is scrolled back and shared.
func holdsNothingPrivate(t *testing.T, name string, text []byte) {
	t.Helper()
	for _, private := range []string{alex, kim, secret, "example.com", "/d/"} {
		if strings.Contains(string(text), private) {
			t.Errorf("%s holds %q", name, private)
		}
	}
}
