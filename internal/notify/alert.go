// Package notify reports to the shop's owner what needs a person: by email and by a JSON POST. It is best effort: an order
// whose alert failed stays on the attention list.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"

	"handover/internal/email"
	"handover/internal/order"
	"handover/internal/providerhttp"
)

// Config names the recipients.
type Config struct {
	From       string   // the sender of the emails
	Emails     []string // the owner's addresses
	URL        string   // where the JSON is posted; empty for nowhere
	Key        []byte   // signs the JSON; none when empty
	Sender     email.Sender
	HTTPClient *http.Client // nil for one with a time limit of ten seconds
}

// Notifier sends to the owner.
type Notifier struct{ cfg Config }

// New returns a notifier.
func New(cfg Config) *Notifier {
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{Timeout: 10 * time.Second}
	}
	cfg.HTTPClient = providerhttp.Client(cfg.HTTPClient) // a redirect would lead the alert to where nobody has configured it
	return &Notifier{cfg: cfg}
}

// Configured says whether there is a recipient.
func (n *Notifier) Configured() bool { return len(n.cfg.Emails) > 0 || n.cfg.URL != "" }

// Alert is the JSON of one message. It names no session and no buyer. Chat services show its text.
type Alert struct {
	Reason     order.Reason      `json:"reason"`
	Orders     int               `json:"orders"`          // how many need a person; 0 when it is about no single order
	References []order.Reference `json:"references"`      // of those that have waited longest, ten at most
	Since      *time.Time        `json:"since,omitempty"` // when the first of them stopped
	Next       string            `json:"next"`
	Text       string            `json:"text"`

	at time.Time
}

// Notify sends one alert by every configured way. It succeeds when one of them does.
func (n *Notifier) Notify(ctx context.Context, what order.Alert, now time.Time) error {
	next, title := what.Reason.Remedy("ORDER"), "Your shop needs you: "+what.Reason.Title()
	switch what.Orders {
	case 0:
	case 1:
		next, title = what.Reason.Remedy(string(what.References[0])), "An order needs you: "+what.Reason.Title()
	default:
		title = fmt.Sprintf("%d orders need you: %s", what.Orders, what.Reason.Title())
	}
	var body strings.Builder
	fmt.Fprintf(&body, "%s\n", title)
	for _, reference := range what.References {
		fmt.Fprintf(&body, "%s\n", reference)
	}
	if more := what.Orders - len(what.References); more > 0 {
		fmt.Fprintf(&body, "And %d more.\n", more)
	}
	fmt.Fprintf(&body, "\n%s\n\n%s\n", next, everything)
	return n.send(ctx, alert(what, next, title, now), title, body.String())
}

func alert(what order.Alert, next, title string, now time.Time) Alert {
	a := Alert{Reason: what.Reason, Orders: what.Orders, References: what.References, Next: next, Text: title + ". " + next, at: now.UTC()}
	if a.References == nil {
		a.References = []order.Reference{}
	}
	if !what.Since.IsZero() {
		since := what.Since.UTC()
		a.Since = &since
	}
	return a
}

const everything = "All orders that need you: starter list --attention"

func (n *Notifier) send(ctx context.Context, a Alert, subject, text string) error {
	var failures []error
	sent := false
	for i, address := range n.cfg.Emails {
		// The ledger lets an alert through once. The key is new for each message, because no alert is sent again.
		key := fmt.Sprintf("handover/alert/%s/%d/%d", a.Reason, a.at.UnixNano(), i)
		if _, err := n.cfg.Sender.Send(ctx, key, n.message(address, subject, text)); err != nil {
			failures = append(failures, fmt.Errorf("alert by email: %w", err))
			continue
		}
		sent = true
	}
	if n.cfg.URL != "" {
		if err := n.post(ctx, a); err != nil {
			failures = append(failures, err)
		} else {
			sent = true
		}
	}
	if sent {
		return nil
	}
	return errors.Join(failures...)
}

func (n *Notifier) message(to, subject, text string) order.Message {
	return order.Message{From: n.cfg.From, To: to, Subject: subject, Text: text, HTML: "<pre style=\"white-space:pre-wrap\">" + html.EscapeString(text) + "</pre>"}
}

// post sends the alert as JSON. Any 2xx is a success.
func (n *Notifier) post(ctx context.Context, a Alert) error {
	body, err := json.Marshal(a)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("alert by POST: the address is no URL")
	}
	req.Header.Set("Content-Type", "application/json")
	if len(n.cfg.Key) > 0 {
		sign(req.Header, n.cfg.Key, body, a.at)
	}
	resp, err := n.cfg.HTTPClient.Do(req)
	if err != nil {
		return errors.New("alert by POST: no answer") // the error's own text holds the address
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("alert by POST: HTTP %d", resp.StatusCode)
	}
	return nil
}
