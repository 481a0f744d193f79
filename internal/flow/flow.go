// Package flow holds what Temporal knows of Handover by name: the workflows, their signals, updates, queries and search
// attributes, and the payloads that travel in them. Who starts or signals a workflow needs this package and no other.
package flow

import (
	"time"

	"go.temporal.io/sdk/temporal"

	"handover/internal/order"
)

// The names under which Temporal knows the order workflow, its signal of the starter and its query.
const (
	DeliverName        = "Deliver"
	SignalPaymentEvent = "payment_event"
	QueryState         = "state"
)

// ReconcileName is the name under which Temporal knows the reconciliation.
const ReconcileName = "Reconcile"

// The kinds of requests: the words for them in signals, updates, the ledger and the audit.
const (
	KindResend  = "resend"
	KindRetry   = "retry"
	KindRevoke  = "revoke"
	KindRestore = "restore"
	KindRelink  = "relink"
)

// AboutReversal in a payment_event says that it is about a refund or a dispute.
const AboutReversal = "reversal"

// The search attributes. Their values are seen by everybody who may list workflows, so they hold nothing of a buyer.
var (
	AttributeEnvironment = temporal.NewSearchAttributeKeyKeyword("HandoverEnvironment")
	AttributeState       = temporal.NewSearchAttributeKeyKeyword("HandoverState")
)

// The values of HandoverState.
const (
	StateAutomatic = "automatic"
	StateAttention = "needs_attention"
)

// Input starts the delivery of one order. It holds ids only, because nothing of the buyer may enter a history.
type Input struct {
	order.Key
	// Event is the provider's event that started it; empty when no event did.
	Event string `json:"event,omitempty"`
	// Known says that the order has been worked on before, so the ledger is read first.
	Known bool `json:"known,omitempty"`
	// Attributes says that the namespace has the search attributes.
	Attributes bool `json:"attributes,omitempty"`
	// Continued is what an earlier run of the order, whose history became long, carries over.
	Continued *Continued `json:"continued,omitempty"`
}

// Continued is what a run carries over to the one that continues it, besides what the ledger knows.
type Continued struct {
	Origin    string       `json:"origin"`            // the run in which the workflow was first started
	Signals   int          `json:"signals,omitempty"` // signals without an identity of their own, so far
	Event     bool         `json:"event,omitempty"`   // the payment has to be retrieved
	Attention bool         `json:"attention,omitempty"`
	Notified  order.Reason `json:"notified,omitempty"` // the owner knows this reason
	Note      string       `json:"note,omitempty"`     // what became of the last request
	ClosesAt  time.Time    `json:"closes_at,omitzero"` // when the order's time is over
	// Waits are the steps that go on later; GaveUp those that do not go on by themselves, and why.
	Waits  map[order.Step]Wait         `json:"waits,omitempty"`
	GaveUp map[order.Step]order.Reason `json:"gave_up,omitempty"`
}

// Wait is a step that goes on later.
type Wait struct {
	Until time.Time `json:"until"`
	Since time.Time `json:"since"` // when the first of these waits began
	Turn  int       `json:"turn"`  // how many there have been
}

// Summary is the workflow's line in the Temporal UI.
func (in Input) Summary() string { return "Order " + in.Key.String() }

// PaymentEvent is the payload of the signal of that name. It claims nothing: it makes the run retrieve the payment.
type PaymentEvent struct {
	Event string `json:"event"`
	About string `json:"about,omitempty"`
}

// Request is the payload of an operator's signal or update.
type Request struct {
	Reason    string `json:"reason"`
	RequestID string `json:"request_id,omitempty"`
}

// Answer is the response to a request: to an update, and in the details.
type Answer struct {
	Outcome    order.Outcome `json:"outcome"`
	Refusal    order.Refusal `json:"refusal,omitempty"`
	Says       string        `json:"says,omitempty"` // the refusal in words
	Generation int           `json:"generation,omitempty"`
	Repeated   bool          `json:"repeated,omitempty"` // decided before: nothing was done now
	Reason     order.Reason  `json:"reason,omitempty"`   // why a person is still needed
}

// State is the three facts as a run knows them: the workflow's result and the response to the state query.
type State struct {
	Payment    order.PaymentState `json:"payment"`
	Access     order.AccessState  `json:"access"`
	Email      order.EmailState   `json:"email"`
	Generation int                `json:"generation"`
	Reason     order.Reason       `json:"reason,omitempty"` // why a person has to decide
}
