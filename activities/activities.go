// Package activities holds the steps of an order that touch the world: each retrieves, grants or sends once, is safe to run
// again, and returns how the order stands then. errors.go alone turns failures into Temporal's.
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

	// How long after a failed attempt, the first, second and so on, Temporal makes the next.
	PaymentWait, EmailWait func(attempt int) time.Duration
	// Without progress an order's run is made to read the ledger again after the one, and a person is asked after the other.
	StuckAfter, AttentionAfter time.Duration
	UnreachedAfter             time.Duration // after the payment, until an order counts as unreached

	// What steers a run. It gets these in the results of its activities, so that a replay under other settings decides as the
	// run did.
	OpenFor         time.Duration // how long a run listens after the delivery
	AwaitPaymentFor time.Duration // how long a payment on its way is waited for
	PaymentGiveUp   time.Duration // how long waits that the payment provider asks for may take together
	EmailGiveUp     time.Duration // the same of the email provider
}

// Deps are the parts of the world that the steps touch.
type Deps struct {
	Ledger       *ledger.Ledger
	Environments map[string]Environment
	Catalogue    *order.Catalogue
	Kinds        []access.Local
	Sender       email.Sender
	Links        *link.Signer
	Runs         Runs
	Owner        Owner
	Outcomes     Outcomes
	Log          *slog.Logger
	Now          func() time.Time // time.Now where a test sets nothing else
}

// Progress is part of every step's result: how the order stands, and what steers the run.
type Progress struct {
	Snapshot      order.Snapshot `json:"snapshot,omitzero"`
	WaitSeconds   int            `json:"wait_seconds,omitempty"`    // nothing was done: try again after that; no attempt was spent
	GiveUpSeconds int            `json:"give_up_seconds,omitempty"` // how long such waits may take together
	OpenSeconds   int            `json:"open_seconds,omitempty"`    // how long the run listens after the delivery
}

// progress is how an order stands, with the time for which a run still listens: the run may have begun with this very step,
// as after a reset.
func (a *Activities) progress(now order.Snapshot) Progress {
	p := Progress{Snapshot: now}
	if now.ConfirmedAt != 0 {
		since := time.Duration(now.AsOf-now.ConfirmedAt) * time.Microsecond
		p.OpenSeconds = max(0, int((a.cfg.OpenFor - since).Seconds()))
	}
	return p
}

// Activities are the steps. Every exported method is one activity.
type Activities struct {
	Deps
	cfg     Config
	listing chan struct{} // held by the one that reads the email provider's list
}

// New returns the activities.
func New(deps Deps, cfg Config) *Activities {
	if deps.Now == nil {
		deps.Now = time.Now
	}
	return &Activities{Deps: deps, cfg: cfg, listing: make(chan struct{}, 1)}
}

// done writes the one log line, and the one count, of a step that ended well.
func (a *Activities) done(ctx context.Context, step order.Step, key order.Key, what string) {
	a.Outcomes.StepEnded(string(step), "done")
	a.Log.InfoContext(ctx, "step done", "step", string(step), "order", key.String(), "state", what)
}

// detached is a context for recording what has happened already, which must not be lost because the attempt's own time has
// run out.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 4*time.Second)
}
