package resend

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"handover/internal/email"
	"handover/internal/order"
	"handover/internal/providerhttp"
)

// tagPattern is what Resend allows in a tag's name and value
// (https://resend.com/docs/api-reference/emails/send-email#body-parameters).
var tagPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// deliveries are the event types that are evidence (https://resend.com/docs/dashboard/webhooks/event-types).
var deliveries = map[string]order.Delivery{
	"email.sent":             order.DeliverySent,
	"email.delivered":        order.DeliveryDelivered,
	"email.delivery_delayed": order.DeliveryDelayed,
	"email.bounced":          order.DeliveryBounced,
	"email.complained":       order.DeliveryComplained,
	"email.failed":           order.DeliveryFailed,
	"email.suppressed":       order.DeliverySuppressed,
}

// details are the words that may be repeated to the operator: the bounce types of
// https://resend.com/docs/dashboard/emails/email-bounces, the older two, and why an address is suppressed.
var details = map[string]bool{
	"permanent":                true,
	"transient":                true,
	"undetermined":             true,
	"hard":                     true,
	"soft":                     true,
	"previous_bounce":          true,
	"previous_complaint":       true,
	"suppressed":               true,
	"onaccountsuppressionlist": true,
}

// Translate reads an event of any of the shapes that Resend has sent. The recipient, the subject and the server's own
// words are left where they are.
func (p *Provider) Translate(id string, body []byte) (order.EmailEvent, error) {
	o, ok := providerhttp.ParseObject(body)
	if !ok {
		return order.EmailEvent{}, malformed("the body is not a JSON object")
	}
	data := o.Object("data")
	e := order.EmailEvent{ID: id, Type: o.Name("type"), OccurredAt: occurredAt(o.Text("created_at"))}
	if e.Type == "" {
		return order.EmailEvent{}, malformed("no well-formed event type")
	}
	if !strings.HasPrefix(e.Type, "email.") {
		return e, nil
	}
	if e.MessageID = data.ID("email_id"); e.MessageID == "" {
		return order.EmailEvent{}, malformed("an email event without a well-formed email_id")
	}
	e.Delivery = deliveries[e.Type]
	e.Detail = detail(e.Delivery, data)
	e.Tags = tags(data)
	return e, nil
}

func malformed(reason string) error { return fmt.Errorf("%w: %s", email.ErrMalformed, reason) }

// detail takes the first documented word of those that could be one. Older events have only a message.
func detail(d order.Delivery, data providerhttp.Object) string {
	var words []string
	switch d {
	case order.DeliveryBounced:
		bounce := data.Object("bounce")
		words = []string{bounce.Text("type"), bounce.Text("subType")}
	case order.DeliverySuppressed:
		suppressed := data.Object("suppressed")
		words = []string{suppressed.Text("reason"), suppressed.Text("type")}
	}
	for _, w := range words {
		if w = strings.ToLower(w); details[w] {
			return w
		}
	}
	return ""
}

// tags reads both shapes: an object of names and values, and the list that the sending request has. Tags that Resend
// would not have taken are left out.
func tags(data providerhttp.Object) map[string]string {
	found := map[string]string{}
	named := data.Object("tags")
	for name := range named {
		found[name] = named.Text(name)
	}
	for _, tag := range data.List("tags") {
		found[tag.Text("name")] = tag.Text("value")
	}
	for name, value := range found {
		if !tagPattern.MatchString(name) || !tagPattern.MatchString(value) {
			delete(found, name)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

// occurredAt reads the two ways in which Resend writes a time, or returns none.
func occurredAt(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
