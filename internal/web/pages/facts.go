package pages

import (
	"handover/internal/order"
)

// fact is one of the three facts in plain words.
type fact struct {
	Label  string
	Text   string
	Status status
}

func factLines(v order.View) []fact {
	return []fact{paymentFact(v), accessFact(v), emailFact(v)}
}

func paymentFact(v order.View) fact {
	f := fact{"Payment", "Waiting for confirmation", statusWait}
	switch v.Facts.Payment {
	case order.PaymentConfirmed:
		f.Text, f.Status = "Confirmed", statusDone
	case order.PaymentFailed:
		f.Text, f.Status = "Did not go through", statusStop
	case order.PaymentIgnored:
		f.Text, f.Status = "Not handled here", statusTodo
	case order.PaymentAttention:
		f.Text, f.Status = "Being looked into", statusCare
	default:
		switch {
		case v.Facts.ToPay:
			f.Text = "Waits for you to pay the voucher or transfer"
		case v.Facts.Processing:
			f.Text = "On its way from your bank"
		}
	}
	return f
}

func accessFact(v order.View) fact {
	f := fact{"Access", "Follows the payment", statusTodo}
	switch {
	case v.Facts.Payment == order.PaymentFailed, v.Facts.Payment == order.PaymentIgnored:
		f.Text = "Nothing to deliver"
	case v.Facts.Access == order.AccessGranted:
		f.Text, f.Status = "Ready", statusDone
	case v.Facts.Access == order.AccessHeld:
		f.Text, f.Status = "On hold", statusCare
	case v.Facts.Access == order.AccessRevoked:
		f.Text, f.Status = "Ended", statusStop
	case v.Facts.Access == order.AccessAttention:
		f.Text, f.Status = "Being looked into", statusCare
	case v.Facts.Payment == order.PaymentConfirmed:
		f.Text, f.Status = "Being prepared", statusWait
	}
	return f
}

func emailFact(v order.View) fact {
	f := fact{"Email", "Comes when your order is ready", statusTodo}
	switch {
	case v.Facts.Payment == order.PaymentFailed, v.Facts.Payment == order.PaymentIgnored:
		f.Text = "None to send"
	case v.Facts.Email == order.EmailAccepted:
		return acceptedFact(v)
	case v.Facts.Email == order.EmailUncertain:
		f.Text, f.Status = "Perhaps sent, could not be confirmed", statusCare
	case v.Facts.Email == order.EmailAttention && address(v) == "":
		f.Text, f.Status = "No address to send it to", statusCare
	case v.Facts.Email == order.EmailAttention:
		f.Text, f.Status = "Could not be confirmed", statusCare
	case v.Facts.Access == order.AccessHeld, v.Facts.Access == order.AccessRevoked:
		f.Text = "None to send"
	case v.Facts.Access == order.AccessGranted:
		f.Text, f.Status = "Still on its way", statusWait
	}
	return f
}

// acceptedFact keeps apart what the email provider took and what it says became of it.
func acceptedFact(v order.View) fact {
	f := fact{"Email", "Sent" + at(v), statusDone}
	switch {
	case v.Facts.Delivery.CameBack():
		f.Text, f.Status = "Came back", statusCare
	case v.Facts.Delivery == order.DeliveryDelivered:
		f.Text += " and delivered"
	case v.Facts.Delivery == order.DeliveryDelayed:
		f.Text += "; the mailbox is slow to take it"
	}
	return f
}
