package stripe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"handover/internal/lab/sandbox/core"
)

// Refund is money that went back to the buyer of a session, or is to. Its Stripe form is made from it.
type Refund struct {
	ID      string    `json:"id"` // re_… when empty
	Session string    `json:"session"`
	Amount  int64     `json:"amount"` // minor units; what is left of the payment when 0
	Status  string    `json:"status"` // succeeded (default), pending, requires_action, failed, canceled
	Created time.Time `json:"created,omitzero"`
	Changed bool      `json:"changed"` // since it was made
}

// Dispute is a buyer's bank asking for the money of a session back.
type Dispute struct {
	ID      string    `json:"id"` // du_… when empty
	Session string    `json:"session"`
	Amount  int64     `json:"amount"` // minor units; the whole payment when 0
	Status  string    `json:"status"` // needs_response (default), warning_needs_response, under_review, won, lost, …
	Reason  string    `json:"reason"` // fraudulent when empty
	Created time.Time `json:"created,omitzero"`
	Changed bool      `json:"changed"`
}

// kind is one of the two ways in which money goes back, and all there is of it.
type kind[T any] struct {
	name    string
	states  []string // the words of the object's documentation
	unknown error
	table   core.Table[T]
	record  func(T) error

	common func(*T) common
	fill   func(*T, Session) error // completes what only this kind has
	object func(Session, T) core.Object
	events func(T) []string // what Stripe sends for the present state
	stripe *Stripe
}

// common are the fields that both kinds have.
type common struct {
	id, session, status *string
	created             *time.Time
	changed             *bool
}

func refunds(s *Stripe) kind[Refund] {
	return kind[Refund]{
		name: "refund", states: []string{"pending", "requires_action", "succeeded", "failed", "canceled"},
		unknown: fmt.Errorf("refund: %w", core.ErrUnknown), stripe: s, object: refundObject, events: refundEvents,
		record: core.Entries(s.core, "refund", func(r Refund) { s.refunds.table.Put(r.ID, r); s.tally(r.Session) }),
		common: func(r *Refund) common { return common{&r.ID, &r.Session, &r.Status, &r.Created, &r.Changed} },
		fill: func(r *Refund, sess Session) error {
			left := sess.Amount - sess.Refunded
			r.ID, r.Amount, r.Status = cmp.Or(r.ID, core.NewID("re_", 24)), cmp.Or(r.Amount, left), cmp.Or(r.Status, "succeeded")
			if r.Amount < 1 || r.counts() && r.Amount > left {
				return fmt.Errorf("amount: %d is left of the payment", left)
			}
			return nil
		},
	}
}

func disputes(s *Stripe) kind[Dispute] {
	return kind[Dispute]{
		name: "dispute", states: []string{
			"warning_needs_response", "warning_under_review", "warning_closed", "needs_response", "under_review", "won", "lost", "prevented",
		},
		unknown: fmt.Errorf("dispute: %w", core.ErrUnknown), stripe: s, object: disputeObject, events: disputeEvents,
		record: core.Entries(s.core, "dispute", func(d Dispute) { s.disputes.table.Put(d.ID, d); s.tally(d.Session) }),
		common: func(d *Dispute) common { return common{&d.ID, &d.Session, &d.Status, &d.Created, &d.Changed} },
		fill: func(d *Dispute, sess Session) error {
			d.ID, d.Amount, d.Status = cmp.Or(d.ID, core.NewID("du_", 24)), cmp.Or(d.Amount, sess.Amount), cmp.Or(d.Status, "needs_response")
			d.Reason = cmp.Or(d.Reason, "fraudulent")
			return nil
		},
	}
}

// counts says that a refund is part of its charge's amount_refunded: a pending one is, too.
func (r Refund) counts() bool { return r.Status != "failed" && r.Status != "canceled" }

// Closed says that a dispute can be neither won nor lost any more.
func (d Dispute) Closed() bool {
	return slices.Contains([]string{"won", "lost", "warning_closed", "prevented"}, d.Status)
}

// create adds one to a session that was paid.
func (k *kind[T]) create(v T) (T, error) {
	k.stripe.core.Lock()
	defer k.stripe.core.Unlock()
	c := k.common(&v)
	sess, found := k.stripe.sessions.Get(*c.session)
	switch {
	case !found:
		return v, errUnknownSession
	case sess.PaymentIntent.Status != "succeeded":
		return v, errors.New("session: nothing has been paid")
	}

	err := k.fill(&v, sess)
	*c.created, *c.changed = cmp.Or(*c.created, k.stripe.core.Now().UTC()), false
	switch {
	case k.table.Has(*c.id):
		return v, fmt.Errorf("id: there is such a %s already; change it with PATCH", k.name)
	case !slices.Contains(k.states, *c.status):
		return v, core.OneOf("status", k.states)
	case err != nil:
		return v, err
	}
	return v, k.record(v)
}

// change moves one on to another state.
func (k *kind[T]) change(id, status string) (T, error) {
	k.stripe.core.Lock()
	defer k.stripe.core.Unlock()
	v, found := k.table.Get(id)
	switch {
	case !found:
		return v, k.unknown
	case !slices.Contains(k.states, status):
		return v, core.OneOf("status", k.states)
	}
	c := k.common(&v)
	*c.status, *c.changed = status, true
	return v, k.record(v)
}

// find is the retrieval of one: https://docs.stripe.com/api/refunds/retrieve, https://docs.stripe.com/api/disputes/retrieve.
func (k *kind[T]) find(r *http.Request, id string) (core.Object, bool) {
	v, found := k.table.Get(id)
	sess, _ := k.stripe.sessions.Get(*k.common(&v).session)
	return k.object(sess, v), found && !otherMode(r, sess.ID)
}

// all is the list, newest first: https://docs.stripe.com/api/refunds/list, https://docs.stripe.com/api/disputes/list.
func (k *kind[T]) all(r *http.Request) (list []listed) {
	q := r.URL.Query()
	intent, charge, inRange := q.Get("payment_intent"), q.Get("charge"), createdRange(q)
	for v := range k.table.Newest() {
		c := k.common(&v)
		sess, _ := k.stripe.sessions.Get(*c.session)
		asked := (intent == "" || intent == sess.PaymentIntent.ID) && (charge == "" || charge == chargeID(sess))
		if asked && inRange(c.created.Unix()) && !otherMode(r, sess.ID) {
			list = append(list, listed{*c.id, func() any { return k.object(sess, v) }})
		}
	}
	return list
}

// MoneyEvents says which events of a refund or a dispute are delivered, and how.
type MoneyEvents struct {
	Types  []string `json:"types,omitempty"`  // in this order; those that Stripe sends for the present state when empty
	Copies int      `json:"copies,omitempty"` // of each, delivered at the same moment
	Retry  bool     `json:"retry,omitempty"`  // again in the background until it is taken, for about a minute
}

// deliver signs and delivers events about one (https://docs.stripe.com/api/events/types).
func (k *kind[T]) deliver(ctx context.Context, id string, in MoneyEvents) (list []Delivery, err error) {
	k.stripe.core.Lock()
	v, found := k.table.Get(id)
	k.stripe.core.Unlock()
	if !found {
		return nil, k.unknown
	}
	if len(in.Types) == 0 {
		in.Types = k.events(v)
	}
	for _, name := range in.Types {
		event := EventRequest{Type: name, Copies: in.Copies, Retry: in.Retry}
		if k.name == "refund" {
			event.Refund = id
		} else {
			event.Dispute = id
		}
		d, err := k.stripe.DeliverEvent(ctx, event)
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
	case r.counts():
		types = []string{"refund.created", "charge.refunded"}
	default:
		types = []string{"refund.created"}
	}
	if r.Status == "failed" {
		types = append(types, "refund.failed")
	}
	return types
}

func disputeEvents(d Dispute) []string {
	switch {
	case d.Status == "won":
		return []string{"charge.dispute.closed", "charge.dispute.funds_reinstated"}
	case d.Closed():
		return []string{"charge.dispute.closed"}
	case d.Changed:
		return []string{"charge.dispute.updated"}
	case strings.HasPrefix(d.Status, "warning_"):
		return []string{"charge.dispute.created"}
	}
	return []string{"charge.dispute.created", "charge.dispute.funds_withdrawn"}
}

// tally brings a session's sums up to date. The caller holds the lock.
func (s *Stripe) tally(session string) {
	sess, found := s.sessions.Get(session)
	if !found {
		return
	}
	sess.Refunded, sess.Disputed = 0, false
	for r := range s.refunds.table.Oldest() {
		if r.Session == session && r.counts() {
			sess.Refunded += r.Amount
		}
	}
	for d := range s.disputes.table.Oldest() {
		sess.Disputed = sess.Disputed || d.Session == session
	}
	s.sessions.Put(session, sess)
}
