package web

import (
	"handover/internal/order"
)

// fact is one of the three facts in plain words.
type fact struct {
	Label string
	Text  string
	Tone  tone
}

func factLines(v order.View) []fact {
	return []fact{paymentFact(v), accessFact(v), emailFact(v)}
}

func paymentFact(v order.View) fact {
	f := fact{"Payment", "Waiting for confirmation", toneWait}
	switch v.Facts.Payment {
	case order.PaymentConfirmed:
		f.Text, f.Tone = "Confirmed", toneDone
	case order.PaymentFailed:
		f.Text, f.Tone = "Did not go through", toneStop
	case order.PaymentIgnored:
		f.Text, f.Tone = "Not handled here", toneTodo
	case order.PaymentAttention:
		f.Text, f.Tone = "Being looked into", toneCare
	default:
		if v.Facts.Processing {
			f.Text = "On its way from your bank"
		}
	}
	return f
}

func accessFact(v order.View) fact {
	f := fact{"Access", "Follows the payment", toneTodo}
	switch {
	case v.Facts.Payment == order.PaymentFailed, v.Facts.Payment == order.PaymentIgnored:
		f.Text = "Nothing to deliver"
	case v.Facts.Access == order.AccessGranted:
		f.Text, f.Tone = "Ready", toneDone
	case v.Facts.Access == order.AccessHeld:
		f.Text, f.Tone = "On hold", toneCare
	case v.Facts.Access == order.AccessRevoked:
		f.Text, f.Tone = "Ended", toneStop
	case v.Facts.Access == order.AccessAttention:
		f.Text, f.Tone = "Being looked into", toneCare
	case v.Facts.Payment == order.PaymentConfirmed:
		f.Text, f.Tone = "Being prepared", toneWait
	}
	return f
}

func emailFact(v order.View) fact {
	f := fact{"Email", "Comes when your order is ready", toneTodo}
	switch {
	case v.Facts.Payment == order.PaymentFailed, v.Facts.Payment == order.PaymentIgnored:
		f.Text = "None to send"
	case v.Facts.Email == order.EmailAccepted:
		return acceptedFact(v)
	case v.Facts.Email == order.EmailUncertain:
		f.Text, f.Tone = "Perhaps sent, could not be confirmed", toneCare
	case v.Facts.Email == order.EmailAttention && address(v) == "":
		f.Text, f.Tone = "No address to send it to", toneCare
	case v.Facts.Email == order.EmailAttention:
		f.Text, f.Tone = "Could not be confirmed", toneCare
	case v.Facts.Access == order.AccessHeld, v.Facts.Access == order.AccessRevoked:
		f.Text = "None to send"
	case v.Facts.Access == order.AccessGranted:
		f.Text, f.Tone = "Still on its way", toneWait
	}
	return f
}

// acceptedFact keeps apart what the email provider took and what it says became of it.
func acceptedFact(v order.View) fact {
	f := fact{"Email", "Sent" + at(v), toneDone}
	switch {
	case v.Facts.Delivery.CameBack():
		f.Text, f.Tone = "Came back", toneCare
	case v.Facts.Delivery == order.DeliveryDelivered:
		f.Text += " and delivered"
	case v.Facts.Delivery == order.DeliveryDelayed:
		f.Text += "; the mailbox is slow to take it"
	}
	return f
}
