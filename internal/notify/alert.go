// Package notify tells the shop's owner what needs a person: by email and by a JSON POST. It is best effort: what cannot
// be told stays on the attention list.
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

// Config is whom to tell.
type Config struct {
	From       string   // the sender of the emails
	Emails     []string // the owner's addresses
	URL        string   // where the JSON is posted; empty for nowhere
	Sender     email.Sender
	HTTPClient *http.Client // nil for one with a time limit of ten seconds
}

// Notifier tells the owner.
type Notifier struct{ cfg Config }

// New returns a teller.
func New(cfg Config) *Notifier {
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{Timeout: 10 * time.Second}
	}
	return &Notifier{cfg: cfg}
}

// Configured says whether there is anybody to tell.
func (t *Notifier) Configured() bool { return len(t.cfg.Emails) > 0 || t.cfg.URL != "" }

// Alert is what the owner is told. It names no buyer.
type Alert struct {
	Order  string       `json:"order"` // empty when it is about no single order
	Reason order.Reason `json:"reason"`
	Next   string       `json:"next"`
	At     time.Time    `json:"at"`
	// Waiting is how many orders a reminder is about, and Orders are those that have waited longest.
	Waiting int       `json:"waiting,omitempty"`
	Orders  []Waiting `json:"orders,omitempty"`
}

// Tell tells the owner on every way that is configured. It succeeds when one of them did. The key is empty for what is
// about no single order.
func (t *Notifier) Notify(ctx context.Context, key order.Key, reason order.Reason, now time.Time) error {
	a := Alert{Reason: reason, Next: reason.Remedy("ORDER"), At: now.UTC()}
	title := "Your shop needs you: " + words(reason)
	if key != (order.Key{}) {
		a.Order, a.Next = key.String(), next(reason, key)
		title = "An order needs you: " + words(reason)
	}
	return t.tell(ctx, a, title, fmt.Sprintf("%s\n\n%s\n\n%s\n", strings.TrimSpace(title+"\n"+a.Order), a.Next, everything))
}

const everything = "Everything that waits for you: starter list --attention"

func words(reason order.Reason) string { return strings.ReplaceAll(string(reason), "_", " ") }

func next(reason order.Reason, key order.Key) string {
	return reason.Remedy(key.String())
}

func (t *Notifier) tell(ctx context.Context, a Alert, subject, text string) error {
	var failures []error
	told := false
	for i, address := range t.cfg.Emails {
		// The ledger lets an alert through once; the key is what it is for any message, one for this message.
		key := fmt.Sprintf("handover/alert/%s/%d/%d", a.Reason, a.At.UnixNano(), i)
		if _, err := t.cfg.Sender.Send(ctx, key, t.message(address, subject, text)); err != nil {
			failures = append(failures, fmt.Errorf("alert by email: %w", err))
			continue
		}
		told = true
	}
	if t.cfg.URL != "" {
		if err := t.post(ctx, a); err != nil {
			failures = append(failures, err)
		} else {
			told = true
		}
	}
	if told {
		return nil
	}
	return errors.Join(failures...)
}

func (t *Notifier) message(to, subject, text string) order.Message {
	return order.Message{From: t.cfg.From, To: to, Subject: subject, Text: text, HTML: "<pre style=\"white-space:pre-wrap\">" + html.EscapeString(text) + "</pre>"}
}

// post sends the alert as JSON. Any 2xx is a success.
func (t *Notifier) post(ctx context.Context, a Alert) error {
	body, err := json.Marshal(a)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("alert by POST: the address is no URL")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := t.cfg.HTTPClient.Do(req)
	if err != nil {
		return errors.New("alert by POST: no answer") // the error's own text holds the address
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("alert by POST: HTTP %d", resp.StatusCode)
	}
	return nil
}
