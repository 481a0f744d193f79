package order

// Snapshot is what the ledger holds of an order at one moment, as far as it steers the order's run. Facts reach a run in
// snapshots only. It holds nothing of a buyer, because it travels through histories.
type Snapshot struct {
	// AsOf is the database's clock when the snapshot was taken under the order's lock, in microseconds: an older snapshot
	// never replaces a newer one.
	AsOf int64 `json:"as_of"`
	// ConfirmedAt is when the payment was confirmed, by the same clock; 0 when it is not.
	ConfirmedAt int64 `json:"confirmed_at,omitempty"`

	Payment    PaymentState `json:"payment"`
	Access     AccessState  `json:"access"`
	Email      EmailState   `json:"email"` // of the newest generation
	Generation int          `json:"generation"`

	EmailSuspended  bool `json:"email_suspended,omitempty"`   // not wanted while access has ended or is held
	ReversalDue     bool `json:"reversal_due,omitempty"`      // the provider has to be asked about refunds and disputes
	AccessChangeDue bool `json:"access_change_due,omitempty"` // access is not yet as it has to be

	Reason Reason `json:"reason,omitempty"` // why a person has to decide: the most urgent of what has stopped
}
