package sandbox

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

// MoneyEvents says which events of a refund or a dispute are delivered, and how.
type MoneyEvents struct {
	Types  []string `json:"types,omitempty"`  // in this order; those that Stripe sends for the present state when empty
	Copies int      `json:"copies,omitempty"` // of each, delivered at the same moment
	Retry  bool     `json:"retry,omitempty"`  // again in the background until it is taken, for about a minute
}

// DeliverRefund signs and delivers events of a refund: refund.created, charge.refunded, refund.updated, refund.failed, …
// (https://docs.stripe.com/api/events/types).
func (s *Sandbox) DeliverRefund(ctx context.Context, id string, in MoneyEvents) ([]Delivery, error) {
	s.mu.Lock()
	r, found := s.refunds[id]
	s.mu.Unlock()
	if !found {
		return nil, errUnknownRefund
	}
	if len(in.Types) == 0 {
		in.Types = refundEvents(r)
	}
	return s.deliverMoney(ctx, EventRequest{Refund: id}, in)
}

// DeliverDispute does the same for a dispute: charge.dispute.created, charge.dispute.closed, …
func (s *Sandbox) DeliverDispute(ctx context.Context, id string, in MoneyEvents) ([]Delivery, error) {
	s.mu.Lock()
	d, found := s.disputes[id]
	s.mu.Unlock()
	if !found {
		return nil, errUnknownDispute
	}
	if len(in.Types) == 0 {
		in.Types = disputeEvents(d)
	}
	return s.deliverMoney(ctx, EventRequest{Dispute: id}, in)
}

func (s *Sandbox) deliverMoney(ctx context.Context, event EventRequest, in MoneyEvents) ([]Delivery, error) {
	var list []Delivery
	for _, name := range in.Types {
		event.Type, event.Copies, event.Retry = name, in.Copies, in.Retry
		d, err := s.DeliverEvent(ctx, event)
		if err != nil {
			return list, err
		}
		list = append(list, d)
	}
	return list, nil
}

func refundEvents(r Refund) []string {
	var types []string
	switch {
	case r.Changed:
		types = []string{"refund.updated"}
	case r.gaveBack():
		types = []string{"refund.created", "charge.refunded"}
	default:
		types = []string{"refund.created"}
	}
	if r.Status == "failed" {
		types = append(types, "refund.failed")
	}
	return types
}

func closed(d Dispute) bool {
	return slices.Contains([]string{"won", "lost", "warning_closed", "prevented"}, d.Status)
}

func disputeEvents(d Dispute) []string {
	inquiry := strings.HasPrefix(d.Status, "warning_")
	switch {
	case d.Status == "won":
		return []string{"charge.dispute.closed", "charge.dispute.funds_reinstated"}
	case closed(d):
		return []string{"charge.dispute.closed"}
	case d.Changed:
		return []string{"charge.dispute.updated"}
	case inquiry:
		return []string{"charge.dispute.created"}
	}
	return []string{"charge.dispute.created", "charge.dispute.funds_withdrawn"}
}

// controlMoneyEvents serves the deliveries of a refund's or a dispute's events.
func controlMoneyEvents(deliver func(context.Context, string, MoneyEvents) ([]Delivery, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in MoneyEvents
		if err := readJSON(r, &in); err != nil {
			controlError(w, http.StatusBadRequest, err)
			return
		}
		list, err := deliver(r.Context(), r.PathValue("id"), in)
		answerMoney(w, http.StatusOK, list, err)
	}
}
