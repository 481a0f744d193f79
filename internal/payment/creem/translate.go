package creem

import (
	"fmt"
	"strings"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/providerhttp"
)

// Translate reads the few fields that matter of an event (https://docs.creem.io/learn/webhooks/event-types). Which mode it
// belongs to is what object.mode says, and nothing else: the objects inside name modes of their own, and in Creem's own
// samples another one than the object around them.
func (p *Provider) Translate(body []byte) (payment.Event, error) {
	o, ok := providerhttp.ParseObject(body)
	if !ok {
		return payment.Event{}, malformed("the body is not a JSON object")
	}
	e := payment.Event{ID: o.ID("id"), Type: o.Name("eventType")}
	if e.ID == "" {
		return payment.Event{}, malformed("no well-formed event id")
	}
	if e.Type == "" {
		return payment.Event{}, malformed("no well-formed event type")
	}
	subject := o.Object("object")
	if e.Mode, ok = eventMode(subject); !ok {
		return payment.Event{}, malformed("object.mode is not a text")
	}
	e.Kind = classify(e.Type)
	switch e.Kind {
	case payment.EventCheckout:
		e.Session = subject.ID("id")
		if !validSession(e.Session) {
			return payment.Event{}, malformed("a checkout event without a well-formed checkout id")
		}
		e.PaymentRef = subject.Ref("order")
	case payment.EventRefund, payment.EventDispute:
		e.PaymentRef = reversedOrder(subject)
		if named := subject.Ref("checkout"); validSession(named) {
			e.Session = named // its order may be unknown here, and the payment does not lead to it
		}
	}
	return e, nil
}

func malformed(reason string) error { return fmt.Errorf("%w: %s", payment.ErrMalformed, reason) }

// eventMode is empty where the event does not say, or says a word that is not known.
func eventMode(subject providerhttp.Object) (m order.Mode, ok bool) {
	if !subject.Has("mode") {
		return "", true
	}
	word := subject.Text("mode")
	return modeOf(word), word != ""
}

// modeOf reads Creem's words for a mode: the API names test, prod and sandbox
// (https://docs.creem.io/api-reference/endpoint/get-checkout), the events' samples local too.
func modeOf(word string) order.Mode {
	switch word {
	case "test", "sandbox", "local":
		return order.Test
	case "prod", "live":
		return order.Live
	}
	return ""
}

// classify sorts the types. A checkout has one event only, its completion; those of subscriptions are not ours.
func classify(name string) payment.EventKind {
	switch {
	case name == "checkout.completed":
		return payment.EventCheckout
	case strings.HasPrefix(name, "refund."):
		return payment.EventRefund
	case strings.HasPrefix(name, "dispute."):
		return payment.EventDispute
	}
	return payment.EventOther
}

// reversedOrder joins a refund or a dispute to its sale: through the transaction's order, else through its own. Both may
// be an id or a whole object.
func reversedOrder(subject providerhttp.Object) string {
	if ref := subject.Object("transaction").Ref("order"); ref != "" {
		return ref
	}
	return subject.Ref("order")
}
