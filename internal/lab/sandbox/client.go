package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"handover/internal/lab/sandbox/core"
	"handover/internal/lab/sandbox/creem"
	"handover/internal/lab/sandbox/stripe"
)

// Client drives a sandbox over HTTP, as the crash tests do with one that runs in a process of its own.
type Client struct {
	Base string       // the sandbox's address, such as http://127.0.0.1:9999
	HTTP *http.Client // http.DefaultClient when nil
}

// SetWebhookURLs changes where events go from now on. An empty address leaves the one there is.
func (c Client) SetWebhookURLs(ctx context.Context, payments, email string) error {
	return c.do(ctx, http.MethodPut, "/control/config", webhookURLs{Payments: payments, Email: email}, nil)
}

// CreateSession adds a session; what is left out is filled in.
func (c Client) CreateSession(ctx context.Context, sess Session) (made Session, err error) {
	return made, c.do(ctx, http.MethodPost, "/control/sessions", sess, &made)
}

// Session returns a session as it is now.
func (c Client) Session(ctx context.Context, id string) (sess Session, err error) {
	return sess, c.do(ctx, http.MethodGet, "/control/sessions/"+url.PathEscape(id), nil, &sess)
}

// ChangeSession changes the named fields of a session.
func (c Client) ChangeSession(ctx context.Context, id string, fields map[string]any) (sess Session, err error) {
	return sess, c.do(ctx, http.MethodPatch, "/control/sessions/"+url.PathEscape(id), fields, &sess)
}

// PaySession lets the money of an unpaid session arrive.
func (c Client) PaySession(ctx context.Context, id string) (Session, error) {
	return c.ChangeSession(ctx, id, map[string]any{"status": "complete", "payment_status": stripe.Paid})
}

// FailSession lets the payment of an unpaid session fail.
func (c Client) FailSession(ctx context.Context, id string) (Session, error) {
	return c.ChangeSession(ctx, id, map[string]any{"payment_intent": map[string]string{"status": stripe.IntentFailed}})
}

// Deliver signs and delivers a payment event.
func (c Client) Deliver(ctx context.Context, event EventRequest) (d Delivery, err error) {
	return d, c.do(ctx, http.MethodPost, "/control/events", event, &d)
}

// DeliverEmailEvent signs and delivers an event of an accepted message.
func (c Client) DeliverEmailEvent(ctx context.Context, message string, event EmailEventRequest) (d Delivery, err error) {
	return d, c.do(ctx, http.MethodPost, "/control/emails/"+url.PathEscape(message)+"/events", event, &d)
}

// AddFault orders a misbehaviour.
func (c Client) AddFault(ctx context.Context, f Fault) (added Fault, err error) {
	return added, c.do(ctx, http.MethodPost, "/control/faults", f, &added)
}

// Faults lists the faults with how often each caught a request.
func (c Client) Faults(ctx context.Context) (list []Fault, err error) {
	return list, c.do(ctx, http.MethodGet, "/control/faults", nil, &list)
}

// ReleaseFaults lets every waiting request go on; the faults stay.
func (c Client) ReleaseFaults(ctx context.Context) error {
	return c.do(ctx, http.MethodPost, "/control/faults/release", nil, nil)
}

// ClearFaults removes all faults and lets every waiting request go on.
func (c Client) ClearFaults(ctx context.Context) error {
	return c.do(ctx, http.MethodDelete, "/control/faults", nil, nil)
}

// Counts returns what the sandbox did.
func (c Client) Counts(ctx context.Context) (counts Counts, err error) {
	return counts, c.do(ctx, http.MethodGet, "/control/counts", nil, &counts)
}

// Messages returns all accepted messages, oldest first.
func (c Client) Messages(ctx context.Context) (list []Message, err error) {
	return list, c.do(ctx, http.MethodGet, "/control/messages", nil, &list)
}

// Wait returns when the count is at least n. Its error after the timeout says how far it got.
func (c Client) Wait(ctx context.Context, what WaitFor, n int, timeout time.Duration) error {
	q := url.Values{"what": {what.What}, "n": {strconv.Itoa(n)}, "timeout": {timeout.String()}}
	for name, value := range map[string]string{
		"order": what.Order, "key": what.Key, "session": what.Session, "fault": what.Fault,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return c.do(ctx, http.MethodGet, "/control/wait?"+q.Encode(), nil, nil)
}

func (c Client) do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("sandbox %s %s: %w", method, path, err)
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.Base, "/")+path, body)
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("sandbox %s %s: %w", method, path, err)
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("sandbox %s %s: HTTP %d: %s", method, path, resp.StatusCode, bytes.TrimSpace(answer))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}

// CreateBatch adds many sessions at once, which no webhook reports.
func (c Client) CreateBatch(ctx context.Context, b Batch) (made []Session, err error) {
	return made, c.do(ctx, http.MethodPost, "/control/batch", b, &made)
}

// Refund gives money back to the buyer of a session; what is left out is filled in. No webhook reports it yet.
func (c Client) Refund(ctx context.Context, session string, r Refund) (made Refund, err error) {
	return made, c.do(ctx, http.MethodPost, "/control/sessions/"+url.PathEscape(session)+"/refunds", r, &made)
}

// ChangeRefund lets a pending refund succeed, or one that seemed to succeed fail. No webhook reports it yet.
func (c Client) ChangeRefund(ctx context.Context, id, status string) (changed Refund, err error) {
	return changed, c.do(ctx, http.MethodPatch, "/control/refunds/"+url.PathEscape(id), stripe.StatusChange{Status: status}, &changed)
}

// DeliverRefund signs and delivers the events of a refund.
func (c Client) DeliverRefund(ctx context.Context, id string, events MoneyEvents) (list []Delivery, err error) {
	return list, c.do(ctx, http.MethodPost, "/control/refunds/"+url.PathEscape(id)+"/events", events, &list)
}

// Dispute lets the buyer's bank dispute a session; what is left out is filled in. No webhook reports it yet.
func (c Client) Dispute(ctx context.Context, session string, d Dispute) (made Dispute, err error) {
	return made, c.do(ctx, http.MethodPost, "/control/sessions/"+url.PathEscape(session)+"/disputes", d, &made)
}

// ChangeDispute moves a dispute on: won, lost, … No webhook reports it yet.
func (c Client) ChangeDispute(ctx context.Context, id, status string) (changed Dispute, err error) {
	return changed, c.do(ctx, http.MethodPatch, "/control/disputes/"+url.PathEscape(id), stripe.StatusChange{Status: status}, &changed)
}

// DeliverDispute signs and delivers the events of a dispute.
func (c Client) DeliverDispute(ctx context.Context, id string, events MoneyEvents) (list []Delivery, err error) {
	return list, c.do(ctx, http.MethodPost, "/control/disputes/"+url.PathEscape(id)+"/events", events, &list)
}

// SwitchWebhooks turns the delivery of payment events off and on again.
func (c Client) SwitchWebhooks(ctx context.Context, on bool) error {
	return c.do(ctx, http.MethodPut, "/control/stripe/webhooks", stripe.WebhookSwitch{On: on}, nil)
}

// SetEndpoints says what the account's list of webhook endpoints holds. Events go where they went before.
func (c Client) SetEndpoints(ctx context.Context, list ...Endpoint) error {
	if list == nil {
		list = []Endpoint{}
	}
	return c.do(ctx, http.MethodPut, "/control/stripe/endpoints", list, nil)
}

// SetPrice makes a price known, or changes it.
func (c Client) SetPrice(ctx context.Context, p Price) error {
	return c.do(ctx, http.MethodPut, "/control/stripe/prices/"+url.PathEscape(p.ID), p, nil)
}

// SetStock makes a product known, or changes it.
func (c Client) SetStock(ctx context.Context, p StockItem) error {
	return c.do(ctx, http.MethodPut, "/control/stripe/products/"+url.PathEscape(p.ID), p, nil)
}

// SetCreemWebhookURL changes where Creem's events go from now on.
func (c Client) SetCreemWebhookURL(ctx context.Context, address string) error {
	return c.do(ctx, http.MethodPut, "/control/creem/config", creem.WebhookURL{WebhookURL: address}, nil)
}

// CreateCheckout adds a checkout at Creem; what is left out is filled in.
func (c Client) CreateCheckout(ctx context.Context, checkout Checkout) (made Checkout, err error) {
	return made, c.do(ctx, http.MethodPost, "/control/creem/checkouts", checkout, &made)
}

// Checkout returns a checkout as it is now.
func (c Client) Checkout(ctx context.Context, id string) (checkout Checkout, err error) {
	return checkout, c.do(ctx, http.MethodGet, "/control/creem/checkouts/"+url.PathEscape(id), nil, &checkout)
}

// ChangeCheckout changes the named fields of a checkout.
func (c Client) ChangeCheckout(ctx context.Context, id string, fields map[string]any) (checkout Checkout, err error) {
	return checkout, c.do(ctx, http.MethodPatch, "/control/creem/checkouts/"+url.PathEscape(id), fields, &checkout)
}

// CompleteCheckout lets the buyer of a pending checkout pay.
func (c Client) CompleteCheckout(ctx context.Context, id string) (Checkout, error) {
	return c.ChangeCheckout(ctx, id, map[string]any{"status": "completed"})
}

// RefundCheckout gives money back, in minor units; what is left of the payment when 0.
func (c Client) RefundCheckout(ctx context.Context, id string, amount int64) (Checkout, error) {
	now, err := c.Checkout(ctx, id)
	if err != nil {
		return now, err
	}
	return c.ChangeCheckout(ctx, id, map[string]any{"refunds": append(now.Refunds, CreemRefund{Amount: amount})})
}

// DisputeCheckout lets the buyer's bank take the money back.
func (c Client) DisputeCheckout(ctx context.Context, id string) (Checkout, error) {
	return c.ChangeCheckout(ctx, id, map[string]any{"dispute": core.NewID("disp_", 22)})
}

// DeliverCreem signs and delivers an event of Creem's.
func (c Client) DeliverCreem(ctx context.Context, event CreemEvent) (d Delivery, err error) {
	return d, c.do(ctx, http.MethodPost, "/control/creem/events", event, &d)
}

// SetDomains says what the account's list of domains at Resend holds. Emails are taken whatever it says.
func (c Client) SetDomains(ctx context.Context, list ...Domain) error {
	if list == nil {
		list = []Domain{}
	}
	return c.do(ctx, http.MethodPut, "/control/resend/domains", list, nil)
}
