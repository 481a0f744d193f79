package order

import (
	"html"
	"strings"
	"time"
)

// Message is a rendered email. It is stored before the first attempt and sent unchanged on every one, so its JSON names
// never change and fields are only added, with omitempty.
type Message struct {
	From    string `json:"from"`
	To      string `json:"to"`
	ReplyTo string `json:"reply_to,omitempty"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
	Tags    []Tag  `json:"tags,omitempty"`
	// EntityRef is another for each generation, so that mail programs do not fold a resend into the earlier message.
	EntityRef string `json:"entity_ref,omitempty"`
}

// Tag is a name and a value that the provider gives back in its events: ASCII letters, digits, underscore and dash.
type Tag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// The tags every message carries, so that its events can be joined to it when the answer to the call was lost.
const (
	TagEnvironment = "handover_environment"
	TagSession     = "handover_session"
	TagGeneration  = "handover_generation"
)

// EmailEvent is what an email provider tells afterwards.
type EmailEvent struct {
	ID         string // the provider's id of the event; the same on every repetition
	Type       string
	MessageID  string   // the provider's id of the message
	Delivery   Delivery // DeliveryNone when the event is no evidence of delivery
	Detail     string   // a safe word from the provider's documented list, such as "permanent"; empty otherwise
	Tags       map[string]string
	OccurredAt time.Time // zero when the event does not say
}

// LinkPlaceholder stands in a stored message for the buyer's link, so that the ledger does not hold it. WithLink puts the
// link in its place, the same on every attempt.
const LinkPlaceholder = "https://handover.invalid/LINK"

// WithLink returns the message with the buyer's link in the place of LinkPlaceholder.
func (m Message) WithLink(link string) Message {
	m.Text = strings.ReplaceAll(m.Text, LinkPlaceholder, link)
	// A link of URL-safe characters is the same escaped; another one must not break out of the attribute.
	m.HTML = strings.ReplaceAll(m.HTML, LinkPlaceholder, html.EscapeString(link))
	return m
}
