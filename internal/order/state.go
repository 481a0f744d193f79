package order

// Mode says whether an environment moves real money.
type Mode string

// The two modes of a payment account.
const (
	Live Mode = "live"
	Test Mode = "test"
)

// PaymentState is the first fact: was it paid.
type PaymentState string

// What is known of the payment. Confirmed is final: no later event takes it back.
const (
	PaymentPending   PaymentState = "pending"
	PaymentConfirmed PaymentState = "confirmed"
	PaymentFailed    PaymentState = "failed"
	PaymentIgnored   PaymentState = "ignored"
	PaymentAttention PaymentState = "needs_attention"
)

// AccessState is the second fact: can the buyer open what was bought.
type AccessState string

// What is known of the access.
const (
	AccessPending   AccessState = "pending"
	AccessGranted   AccessState = "granted"
	AccessHeld      AccessState = "held"
	AccessRevoked   AccessState = "revoked"
	AccessAttention AccessState = "needs_attention"
)

// EmailState is the third fact: has the email provider taken the message. Accepted is never called delivered.
type EmailState string

// What is known of the newest email.
const (
	EmailPending   EmailState = "pending"
	EmailAccepted  EmailState = "accepted"
	EmailUncertain EmailState = "uncertain"
	EmailAttention EmailState = "needs_attention"
)

// Delivery is evidence from the email provider's own events, kept beside EmailAccepted. Empty until there is some.
type Delivery string

// The evidence, from the weakest to the strongest.
const (
	DeliveryNone       Delivery = ""
	DeliverySent       Delivery = "sent"
	DeliveryDelayed    Delivery = "delayed"
	DeliveryDelivered  Delivery = "delivered"
	DeliveryComplained Delivery = "complained"
	DeliverySuppressed Delivery = "suppressed"
	DeliveryFailed     Delivery = "failed"
	DeliveryBounced    Delivery = "bounced"
)

// Rank orders the evidence: events arrive in any order, and a late weaker one must not hide a stronger one.
func (d Delivery) Rank() int {
	switch d {
	case DeliverySent:
		return 1
	case DeliveryDelayed:
		return 2
	case DeliveryDelivered:
		return 3
	case DeliveryComplained:
		return 4
	case DeliverySuppressed:
		return 5
	case DeliveryFailed:
		return 6
	case DeliveryBounced:
		return 7
	}
	return 0
}

// CameBack says that the buyer's mailbox did not take the message. A complaint did reach somebody, and what the provider
// could not send says nothing about the buyer.
func (d Delivery) CameBack() bool { return d == DeliverySuppressed || d == DeliveryBounced }

// Reason is why a person is needed then; empty where none is.
func (d Delivery) Reason() Reason {
	switch {
	case d.CameBack():
		return ReasonEmailBounced
	case d == DeliveryFailed:
		return ReasonEmailConfig
	}
	return ""
}

// Facts are the three facts of one order, side by side. They are never folded into one stored status.
type Facts struct {
	Payment    PaymentState
	Processing bool // the buyer has finished checkout and the money is on its way (bank debits and the like)
	ToPay      bool // of these: a voucher or a transfer that the buyer has still to pay
	Access     AccessState
	Email      EmailState
	Delivery   Delivery
}

// Pending are the facts of an order that is unknown to the ledger.
func Pending() Facts {
	return Facts{Payment: PaymentPending, Access: AccessPending, Email: EmailPending}
}

// CustomerState is what the order page says, derived from the facts at the moment of asking.
type CustomerState string

// Everything the order page can say.
const (
	CustomerWaiting      CustomerState = "waiting_for_payment"
	CustomerProcessing   CustomerState = "payment_processing"
	CustomerFailed       CustomerState = "payment_failed"
	CustomerPreparing    CustomerState = "preparing"
	CustomerEmailPending CustomerState = "ready_email_pending"
	CustomerReady        CustomerState = "ready"
	CustomerBounced      CustomerState = "ready_email_bounced"
	CustomerOnHold       CustomerState = "on_hold"
	CustomerEnded        CustomerState = "ended"
	CustomerLooking      CustomerState = "looking_into_it"
	CustomerNotOurs      CustomerState = "not_ours"
)

// CustomerState derives what the page says.
func (f Facts) CustomerState() CustomerState {
	switch f.Payment {
	case PaymentConfirmed:
		return f.confirmedState()
	case PaymentFailed:
		return CustomerFailed
	case PaymentIgnored:
		return CustomerNotOurs
	case PaymentAttention:
		return CustomerLooking
	}
	if f.Processing {
		return CustomerProcessing
	}
	return CustomerWaiting
}

func (f Facts) confirmedState() CustomerState {
	switch f.Access {
	case AccessHeld:
		return CustomerOnHold
	case AccessRevoked:
		return CustomerEnded
	case AccessAttention:
		return CustomerLooking
	case AccessGranted:
		if f.Email != EmailAccepted {
			return CustomerEmailPending
		}
		if f.Delivery.CameBack() {
			return CustomerBounced
		}
		return CustomerReady
	}
	return CustomerPreparing
}

// Settled says that nothing about the buyer's page changes without a new event or an operator.
func (s CustomerState) Settled() bool {
	switch s {
	case CustomerWaiting, CustomerProcessing, CustomerPreparing, CustomerEmailPending:
		return false
	}
	return true
}
