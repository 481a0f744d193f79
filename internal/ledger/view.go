package ledger

import (
	"errors"
	"time"

	"handover/internal/order"
)

// ErrNotFound is returned when the ledger has no such order, or no such link.
var ErrNotFound = errors.New("not in the ledger")

// View is everything that the order page, the operator's commands and JSON show of one order.
type View struct {
	Key           order.Key
	Facts         order.Facts
	Reason        order.Reason // why it needs attention; empty when it does not
	Class         order.Class  // the class of the failure behind it, when there was one
	AttentionAt   *time.Time
	Total         order.Money
	PaymentRef    string
	Refunded      int64         // by refunds that succeeded, in the total's minor units
	RefundPending int64         // by refunds that have not succeeded yet
	Dispute       order.Dispute // how the payment's disputes stand
	ReviewDue     bool          // the provider has to be asked about refunds and disputes
	ChangeDue     bool          // access is not yet as it has to be
	Address       string        // where messages go; empty when the provider gave none
	CreatedAt     time.Time
	ConfirmedAt   *time.Time
	LookedAt      *time.Time // when the provider was last asked
	Items         []order.Item
	Grants        []Grant
	Emails        []EmailView // oldest generation first
}

// Grant is access that was given.
type Grant struct {
	ID      int64
	Product string
	Kind    order.AccessKind
	File    string // the blob's name; empty unless it is a download
	Unit    int64  // from 1
	Secret  string // the licence key; empty unless it is a licence
	State   order.AccessState
}

// EmailView is what is known of one generation of the access email.
type EmailView struct {
	Generation     int
	State          order.EmailState
	Superseded     bool // a newer one to another address took its place
	Rests          bool // not wanted now, because access has ended or is held
	Delivery       order.Delivery
	Detail         string      // the provider's word for how it came back; empty when there is none
	Class          order.Class // of the last failure; empty when there was none
	Attempts       int
	FirstAttemptAt *time.Time
	AcceptedAt     *time.Time
	Address        string
}
