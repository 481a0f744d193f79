package sandbox

import (
	"context"
	"net/http"
	"net/url"
)

// CreateBatch adds many sessions at once, of which no webhook tells.
func (c Client) CreateBatch(ctx context.Context, b Batch) (made []Session, err error) {
	return made, c.do(ctx, http.MethodPost, "/control/batch", b, &made)
}

// Refund gives money back to the buyer of a session; what is left out is filled in. Nobody is told yet.
func (c Client) Refund(ctx context.Context, session string, r Refund) (made Refund, err error) {
	return made, c.do(ctx, http.MethodPost, "/control/sessions/"+url.PathEscape(session)+"/refunds", r, &made)
}

// ChangeRefund lets a pending refund succeed, or one that seemed to succeed fail. Nobody is told yet.
func (c Client) ChangeRefund(ctx context.Context, id, status string) (changed Refund, err error) {
	return changed, c.do(ctx, http.MethodPatch, "/control/refunds/"+url.PathEscape(id), statusChange{status}, &changed)
}

// DeliverRefund signs and delivers the events of a refund.
func (c Client) DeliverRefund(ctx context.Context, id string, events MoneyEvents) (list []Delivery, err error) {
	return list, c.do(ctx, http.MethodPost, "/control/refunds/"+url.PathEscape(id)+"/events", events, &list)
}

// Dispute lets the buyer's bank dispute a session; what is left out is filled in. Nobody is told yet.
func (c Client) Dispute(ctx context.Context, session string, d Dispute) (made Dispute, err error) {
	return made, c.do(ctx, http.MethodPost, "/control/sessions/"+url.PathEscape(session)+"/disputes", d, &made)
}

// ChangeDispute moves a dispute on: won, lost, … Nobody is told yet.
func (c Client) ChangeDispute(ctx context.Context, id, status string) (changed Dispute, err error) {
	return changed, c.do(ctx, http.MethodPatch, "/control/disputes/"+url.PathEscape(id), statusChange{status}, &changed)
}

// DeliverDispute signs and delivers the events of a dispute.
func (c Client) DeliverDispute(ctx context.Context, id string, events MoneyEvents) (list []Delivery, err error) {
	return list, c.do(ctx, http.MethodPost, "/control/disputes/"+url.PathEscape(id)+"/events", events, &list)
}

// SwitchWebhooks turns the delivery of payment events off and on again.
func (c Client) SwitchWebhooks(ctx context.Context, on bool) error {
	return c.do(ctx, http.MethodPut, "/control/stripe/webhooks", webhookSwitch{on}, nil)
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
