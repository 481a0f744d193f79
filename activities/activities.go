// Package activities holds the steps of an order that touch the world: each looks, grants or sends once, is safe to
// run again, and tells what came of it. errors.go alone decides what a failure means.
package activities

import (
	"context"
	"log/slog"
	"time"

	"handover/internal/access"
	"handover/internal/email"
	"handover/internal/ledger"
	"handover/internal/link"
	"handover/internal/order"
	"handover/internal/payment"
)

// Ledger is what the steps need of the facts.
type Ledger interface {
	paymentLedger
	accessLedger
	emailLedger
	requestLedger
	orderLedger
	reconcileLedger
	alertLedger
	reversalLedger
	salesLedger
}

// Environment is one configured payment account.
type Environment struct {
	Mode     order.Mode
	Provider payment.Provider
}

// Outcomes counts how steps end.
type Outcomes interface {
	StepEnded(step string, class order.Class)
}

// Config is how the steps behave.
type Config struct {
	From          string // the sender of the access email
	ReplyTo       string
	ShopName      string        // how the shop is called in the email
	EmailLease    time.Duration // how long one attempt at the email may take, and so its claim
	EmailWindow   time.Duration // how long after the first attempt another may start
	EmailAttempts int

	// What a run decides its next command by. It gets these in the results of its activities, so that a replay under other
	// settings decides as the run did.
	OpenFor         time.Duration // how long an order is listened to after it was delivered
	AwaitPaymentFor time.Duration // how long a payment on its way is waited for
	PaymentGiveUp   time.Duration // how long waits that the payment provider asks for may take together
	EmailGiveUp     time.Duration // the same of the email provider
}

// Deps are the parts of the world that the steps touch.
type Deps struct {
	Ledger       Ledger
	Environments map[string]Environment
	Catalogue    *order.Catalogue
	Kinds        []access.Local
	Sender       email.Sender
	Links        *link.Signer
	Runs         Runs
	Owner        Owner
	Outcomes     Outcomes
	Log          *slog.Logger
}

// Activities are the steps. Every exported method is one activity.
type Activities struct {
	Deps
	cfg     Config
	looking chan struct{} // held by the one that goes through the email provider's list
}

// New returns the activities.
func New(deps Deps, cfg Config) *Activities {
	return &Activities{Deps: deps, cfg: cfg, looking: make(chan struct{}, 1)}
}

// done writes the one log line, and the one count, of a step that ended well.
func (a *Activities) done(ctx context.Context, step string, key order.Key, what string) {
	a.Outcomes.StepEnded(step, "done")
	a.Log.InfoContext(ctx, "step done", "step", step, "order", key.String(), "state", what)
}

// detached is a context for writing down what has already happened, which must not be lost because the attempt's own
// time has run out.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 4*time.Second)
}

type orderLedger interface {
	Order(ctx context.Context, key order.Key) (order.View, error)
	Stop(ctx context.Context, w ledger.ObligationID, token string, class order.Class, reason order.Reason) error
	StopAccess(ctx context.Context, key order.Key, class order.Class, reason order.Reason) error
	StopPayment(ctx context.Context, key order.Key, event string, class order.Class, reason order.Reason) error
}
