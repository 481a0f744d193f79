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
)

// Config names the recipients.
type Config struct {
	From       string   // the sender of the emails
	Emails     []string // the owner's addresses
	URL        string   // where the JSON is posted; empty for nowhere
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
	return &Notifier{cfg: cfg}
}

// Configured says whether there is a recipient.
func (n *Notifier) Configured() bool { return len(n.cfg.Emails) > 0 || n.cfg.URL != "" }

// Alert is the JSON of one message. It names no buyer.
type Alert struct {
	Order  string       `json:"order"` // empty when it is about no single order
	Reason order.Reason `json:"reason"`
	Next   string       `json:"next"`
	At     time.Time    `json:"at"`
	// Waiting is how many orders a reminder is about, and Orders are those that have waited longest.
	Waiting int       `json:"waiting,omitempty"`
	Orders  []Waiting `json:"orders,omitempty"`
}

// Notify sends one alert by every configured way. It succeeds when one of them does. The key is empty for a reason that is
// about no single order.
func (n *Notifier) Notify(ctx context.Context, key order.Key, reason order.Reason, now time.Time) error {
	a := Alert{Reason: reason, Next: reason.Remedy("ORDER"), At: now.UTC()}
	title := "Your shop needs you: " + reason.Title()
	if key != (order.Key{}) {
		a.Order, a.Next = key.String(), reason.Remedy(key.String())
		title = "An order needs you: " + reason.Title()
	}
	return n.send(ctx, a, title, fmt.Sprintf("%s\n\n%s\n\n%s\n", strings.TrimSpace(title+"\n"+a.Order), a.Next, everything))
}

const everything = "All orders that need you: starter list --attention"

func (n *Notifier) send(ctx context.Context, a Alert, subject, text string) error {
	var failures []error
	sent := false
	for i, address := range n.cfg.Emails {
		// The ledger lets an alert through once. The key is new for each message, because no alert is sent again.
		key := fmt.Sprintf("handover/alert/%s/%d/%d", a.Reason, a.At.UnixNano(), i)
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
