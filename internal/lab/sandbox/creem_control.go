package sandbox

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
)

// creemURL is the body of PUT /control/creem/config.
type creemURL struct {
	WebhookURL string `json:"webhook_url"`
}

// SetCreemWebhookURL changes where Creem's events go from now on.
func (s *Sandbox) SetCreemWebhookURL(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.creem.webhookURL = url
}

func (s *Sandbox) controlCreemConfig(w http.ResponseWriter, r *http.Request) {
	var in creemURL
	if err := readJSON(r, &in); err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	s.SetCreemWebhookURL(in.WebhookURL)
	w.WriteHeader(http.StatusNoContent)
}

func (s *Sandbox) controlCreateCheckout(w http.ResponseWriter, r *http.Request) {
	var in Checkout
	if err := readJSON(r, &in); err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	c, err := s.CreateCheckout(in)
	answerCreem(w, http.StatusCreated, c, err)
}

func (s *Sandbox) controlGetCheckout(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	c, found := s.creem.checkouts[r.PathValue("id")]
	s.mu.Unlock()
	var err error
	if !found {
		err = errUnknownCheckout
	}
	answerCreem(w, http.StatusOK, c, err)
}

func (s *Sandbox) controlChangeCheckout(w http.ResponseWriter, r *http.Request) {
	patch, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	c, err := s.ChangeCheckout(r.PathValue("id"), patch)
	answerCreem(w, http.StatusOK, c, err)
}

func (s *Sandbox) controlDeliverCreem(w http.ResponseWriter, r *http.Request) {
	var in CreemEvent
	if err := readJSON(r, &in); err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	d, err := s.DeliverCreem(r.Context(), in)
	answerCreem(w, http.StatusOK, d, err)
}

func answerCreem(w http.ResponseWriter, status int, v any, err error) {
	switch {
	case errors.Is(err, errUnknownCheckout):
		controlError(w, http.StatusNotFound, err)
	case errors.Is(err, errNoURL):
		controlError(w, http.StatusConflict, err)
	case err != nil:
		controlError(w, http.StatusBadRequest, err)
	default:
		writeJSON(w, status, v)
	}
}

// SetCreemWebhookURL changes where Creem's events go from now on.
func (c Client) SetCreemWebhookURL(ctx context.Context, address string) error {
	return c.do(ctx, http.MethodPut, "/control/creem/config", creemURL{WebhookURL: address}, nil)
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
	return c.ChangeCheckout(ctx, id, map[string]any{"dispute": newID("disp_", 22)})
}

// DeliverCreem signs and delivers an event of Creem's.
func (c Client) DeliverCreem(ctx context.Context, event CreemEvent) (d Delivery, err error) {
	return d, c.do(ctx, http.MethodPost, "/control/creem/events", event, &d)
}
