// Package webhook receives the providers' events: limit, verify the raw bytes, translate, store, dispatch. It says 200 only
// for what is committed, or verified and not ours. The ledger decides what an event means.
package webhook

import (
	"context"
	"log/slog"
	"time"

	"handover/internal/email"
	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

const (
	// storeTime bounds the commit. The provider tries again after a 503; a hung database must not hold its call.
	storeTime = 5 * time.Second
	// dispatchTime bounds the start of the workflow, which the response waits for but does not depend on.
	dispatchTime = 3 * time.Second
	// bodyTime is the longest time in which a client may send its whole body.
	bodyTime = 10 * time.Second
	// maxBodies bounds the memory: so many bodies are read at once, and one more is refused.
	maxBodies = 64
)

// Events stores the payment providers' events.
type Events interface {
	StoreEvent(ctx context.Context, e ledger.WebhookEvent) (ledger.Stored, error)
}

// Dispatcher hands a stored event to Temporal and marks it dispatched.
type Dispatcher interface {
	Dispatch(ctx context.Context, key order.Key, event string, next ledger.Next) error
}

// EmailEvents stores the email provider's events.
type EmailEvents interface {
	RecordEmailEvent(ctx context.Context, e order.EmailEvent) (ours bool, err error)
}

// Metrics counts the responses to webhooks. The environment is "unknown" where the URL names none of ours, and "email" for
// the email provider's.
type Metrics interface {
	WebhookAnswer(environment string, status int)
}

// Environment is one payment account in one mode.
type Environment struct {
	Name     string
	Mode     order.Mode
	Account  string // the connected account whose events are ours too; empty for none
	Provider payment.Provider
}

// Deps is what the webhooks work with.
type Deps struct {
	Environments  map[string]Environment
	Events        Events
	Dispatcher    Dispatcher
	EmailProvider email.Webhook // nil when no secret is configured: every email event is refused then
	EmailEvents   EmailEvents
	Metrics       Metrics
	Log           *slog.Logger
	Now           func() time.Time
	BodyTime      time.Duration // 10 s when zero
}

// Handlers receive all webhooks. They are safe for concurrent use.
type Handlers struct {
	Deps
	bodies chan struct{} // one element for each body that is being read
}

// New returns the handlers.
func New(deps Deps) *Handlers {
	if deps.BodyTime == 0 {
		deps.BodyTime = bodyTime
	}
	return &Handlers{Deps: deps, bodies: make(chan struct{}, maxBodies)}
}
