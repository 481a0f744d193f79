package stripe

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/providerhttp"
)

// eventSession is what a session's id may look like in an event, of either mode.
var eventSession = regexp.MustCompile(`^cs_(?:(live|test)_[A-Za-z0-9_]+|0{8,})$`)

// Translate reads the few fields that matter of an event of any API version
// (https://docs.stripe.com/api/events/object), and of a thin event, which names its object instead of holding it
// (https://docs.stripe.com/event-destinations#thin-events). The API version, the time and the rest of the object decide
// nothing: the session is retrieved anyway.
func (p *Provider) Translate(body []byte) (payment.Event, error) {
	o, ok := providerhttp.ParseObject(body)
	if !ok {
		return payment.Event{}, malformed("the body is not a JSON object")
	}
	e := payment.Event{ID: o.ID("id"), Type: o.Name("type")}
	if e.ID == "" {
		return payment.Event{}, malformed("no well-formed event id")
	}
	if e.Type == "" {
		return payment.Event{}, malformed("no well-formed event type")
	}
	if e.Mode, ok = mode(o); !ok {
		return payment.Event{}, malformed("livemode is neither true nor false")
	}
	if e.Account, ok = ownerOf(o); !ok {
		return payment.Event{}, malformed("account is not an id")
	}
	subject, name := o.Object("data").Object("object"), e.Type
	thin := o.Text("object") == "v2.core.event"
	if thin {
		subject, name = thinSubject(o.Object("related_object")), strings.TrimPrefix(e.Type, "v1.")
	}
	e.Kind, e.Hint = classify(name)
	e.PaymentRef = paymentRef(subject, e.Kind)
	if thin && e.PaymentRef == "" && (e.Kind == payment.EventRefund || e.Kind == payment.EventDispute) {
		e.PaymentRef = subject.ID("id") // of the refund or dispute itself: looking it up tells whose it is
	}
	if e.Kind != payment.EventCheckout {
		return e, nil
	}
	return withSession(e, subject)
}

// withSession adds the session's id. An id that names the other mode than its event is no event of Stripe's.
func withSession(e payment.Event, subject providerhttp.Object) (payment.Event, error) {
	id := subject.ID("id")
	match := eventSession.FindStringSubmatch(id)
	if match == nil || !order.ValidSession(id) {
		return payment.Event{}, malformed("a checkout event without a well-formed session id")
	}
	if named := order.Mode(match[1]); named != "" && e.Mode != "" && named != e.Mode {
		return payment.Event{}, malformed("the session's id and livemode contradict each other")
	}
	e.Session = id
	return e, nil
}

func malformed(reason string) error { return fmt.Errorf("%w: %s", payment.ErrMalformed, reason) }

// mode is what the event says of itself: a refund inside it has no livemode of its own.
func mode(o providerhttp.Object) (m order.Mode, ok bool) {
	if !o.Has("livemode") {
		return "", true
	}
	live, ok := o.Bool("livemode")
	if live {
		return order.Live, ok
	}
	return order.Test, ok
}

// ownerOf is the connected account an event belongs to. Thin events call it context and may put the organisation before
// it (https://docs.stripe.com/api/v2/core/events/object).
func ownerOf(o providerhttp.Object) (id string, ok bool) {
	if o.Has("account") {
		id = o.ID("account")
		return id, id != ""
	}
	path := o.Text("context")
	return providerhttp.CleanID(path[strings.LastIndex(path, "/")+1:]), true
}

// thinSubject gives a thin event's related object the shape of the object it stands for.
func thinSubject(related providerhttp.Object) providerhttp.Object {
	if related == nil {
		return nil
	}
	return providerhttp.Object{"id": related["id"], "object": related["type"]}
}

// classify sorts the types of https://docs.stripe.com/api/events/types.
func classify(name string) (payment.EventKind, payment.Hint) {
	switch {
	case name == "checkout.session.async_payment_failed":
		return payment.EventCheckout, payment.HintFailed
	case name == "checkout.session.expired":
		return payment.EventCheckout, payment.HintExpired
	case strings.HasPrefix(name, "checkout.session."):
		return payment.EventCheckout, payment.HintNone
	case name == "charge.refunded", name == "charge.refund.updated", strings.HasPrefix(name, "refund."):
		return payment.EventRefund, payment.HintNone
	case strings.HasPrefix(name, "charge.dispute."):
		return payment.EventDispute, payment.HintNone
	}
	return payment.EventOther, payment.HintNone
}

// paymentRef joins a refund or a dispute to its session: the payment intent or, where the object has none, the charge. Any
// other event of an intent or a charge may say that the money has come: one that was captured by hand has no event of its
// session.
func paymentRef(subject providerhttp.Object, kind payment.EventKind) string {
	if subject.Text("object") == "payment_intent" {
		return subject.ID("id")
	}
	if kind == payment.EventOther && subject.Text("object") != "charge" {
		return ""
	}
	if intent := subject.Ref("payment_intent"); intent != "" || kind == payment.EventCheckout {
		return intent
	}
	if subject.Text("object") == "charge" {
		return subject.ID("id")
	}
	return cmp.Or(subject.Object("charge").Ref("payment_intent"), subject.Ref("charge"))
}
