package order

import (
	"slices"
	"time"
)

// View is everything that the order page, the operator's commands and JSON show of one order.
type View struct {
	Key             Key
	Reference       Reference
	Found           string // how it came to be known where its webhook was missed: page or reconcile
	Facts           Facts
	Attention       []Stopped  // what has stopped and waits for a person, the most urgent first
	Reason          Reason     // of these, the most urgent one's; empty when nothing has stopped
	Class           Class      // the class of the failure behind it, when there was one
	AttentionAt     *time.Time // when the first of them stopped
	Total           Money
	Paid            int64 // what the provider has captured, where it says so, else the total; in the total's minor units
	PaymentRef      string
	Refunded        int64   // by refunds that succeeded
	RefundPending   int64   // by refunds that have not succeeded yet
	Dispute         Dispute // how the payment's disputes stand
	ReversalDue     bool    // the provider has to be asked about refunds and disputes
	AccessChangeDue bool    // access is not yet as it has to be
	Address         string  // where messages go; empty when the provider gave none
	CreatedAt       time.Time
	ConfirmedAt     *time.Time
	CheckedAt       *time.Time // when the provider was last asked
	OpenedAt        *time.Time // when the buyer was first seen at the page behind the emailed link
	DownloadedAt    *time.Time // when a file was first asked for
	LinkVersion     int        // of the emailed link, from 1; every relink raises it
	Items           []Item
	Grants          []Grant
	Emails          []EmailView // oldest generation first
}

// Relinked says that a person has replaced the emailed link: whoever has an earlier email may not be the buyer.
func (v View) Relinked() bool { return v.LinkVersion > 1 }

// FullyRefunded says that all of the money went back.
func (v View) FullyRefunded() bool {
	return ReversalFacts{Paid: v.Paid, Refunded: v.Refunded}.FullyRefunded()
}

// Stopped is a step of an order whose automatic work has ended: a person has to decide.
type Stopped struct {
	Step   Step
	Reason Reason
	Class  Class // of the failure behind it; empty when there was none
	Since  time.Time
}

// Grant is access that was given.
type Grant struct {
	ID      int64
	Product string
	Kind    AccessKind
	File    string // the blob's name; empty unless it is a download
	Item    string // which access of its product it is; empty where that is not known
	Unit    int64  // from 1
	Secret  string // the licence key; empty unless it is a licence
	State   AccessState
}

// EmailView is what is known of one generation of the access email.
type EmailView struct {
	Generation     int
	State          EmailState
	Superseded     bool // a newer one to another address took its place
	Suspended      bool // not wanted now, because access has ended or is held
	Delivery       Delivery
	Detail         string // the provider's word for how it came back; empty when there is none
	Class          Class  // of the last failure; empty when there was none
	Attempts       int
	FirstAttemptAt *time.Time
	AcceptedAt     *time.Time
	Address        string
}

// WithoutAddresses is the order for somebody who must not learn where its emails go.
func (v View) WithoutAddresses() View {
	v.Address = ""
	v.Emails = slices.Clone(v.Emails)
	for i := range v.Emails {
		v.Emails[i].Address = ""
	}
	return v
}
