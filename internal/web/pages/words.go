package pages

import (
	"handover/internal/order"
)

// words are what the page says about a state beside its headline, in the words of somebody who bought something.
type words struct {
	status     status
	badge      string
	paragraphs []string
	askShop    bool
}

var stateWords = map[order.CustomerState]words{
	order.CustomerWaiting: {statusWait, "Waiting", []string{
		"This usually takes a few seconds. You can leave this page open: it updates by itself.",
	}, false},
	order.CustomerProcessing: {statusWait, "On its way", []string{
		"Your payment is on its way. With bank debits and transfers it can take days until it arrives.",
		"Please do not pay again. As soon as the money is there, we email you and your order appears here.",
	}, false},
	order.CustomerFailed: {statusStop, "Not paid", []string{
		"Nothing was delivered. You can try again in the shop, perhaps with another way to pay.",
	}, true},
	order.CustomerPreparing: {statusWait, "Paid", []string{
		"Thank you, your payment has arrived. This takes a moment, and the page updates by itself.",
	}, false},
	order.CustomerEmailPending: {statusDone, "Ready", nil, false},
	order.CustomerReady:        {statusDone, "Ready", nil, false},
	order.CustomerBounced:      {statusDone, "Ready", nil, true},
	order.CustomerOnHold: {statusCare, "On hold", []string{
		"Access is paused until the bank has decided. Nothing is lost: if the payment stands, it comes back by itself.",
	}, true},
	order.CustomerEnded: {statusStop, "Ended", []string{
		"Downloads and licence keys of this order no longer work.",
	}, true},
	order.CustomerLooking: {statusCare, "With the shop", []string{
		"Something about this order needs a person at the shop. You need not pay again.",
	}, true},
	order.CustomerNotOurs: {statusTodo, "Elsewhere", []string{
		"What you bought reaches you another way. The shop can tell you how.",
	}, true},
}

// toPayWords are for a voucher (Boleto, OXXO, Multibanco) or a transfer: telling the buyer not to pay would lose the sale.
var toPayWords = words{statusWait, "To be paid", []string{
	"Your voucher or transfer waits to be paid: the checkout showed you how, and has sent it to you by email.",
	"As soon as the money is there, which can take some days, we email you and your order appears here.",
}, false}

func wordsFor(v order.View) words {
	state := v.Facts.CustomerState()
	w := stateWords[state]
	switch state {
	case order.CustomerProcessing:
		if v.Facts.ToPay {
			w = toPayWords
		}
	case order.CustomerEmailPending:
		w.paragraphs = emailPendingWords(v)
	case order.CustomerEnded:
		w.paragraphs = endedWords(v, w.paragraphs)
	case order.CustomerReady:
		w.paragraphs = []string{"Email sent" + at(v) + "."}
	case order.CustomerBounced:
		w.paragraphs = []string{bouncedWords(v)}
	}
	return w
}

// endedWords say why access has ended, where the money says it.
func endedWords(v order.View, otherwise []string) []string {
	switch {
	case v.FullyRefunded():
		return []string{"The payment was returned, so downloads and licence keys of this order no longer work."}
	case v.Dispute == order.DisputeLost:
		return []string{"The bank has taken the payment back, so downloads and licence keys of this order no longer work."}
	}
	return otherwise
}

func bouncedWords(v order.View) string {
	const ask = " Please contact the shop, so that it can reach you at another address."
	if masked := order.MaskAddress(address(v)); masked != "" {
		return "The email came back: " + masked + " did not take it." + ask
	}
	return "The email came back." + ask
}

func emailPendingWords(v order.View) []string {
	switch {
	case v.Facts.Email == order.EmailPending:
		return []string{"The email is still on its way."}
	case address(v) == "":
		return []string{"We have no email address of yours. Please keep what is here, or contact the shop for an email with a lasting link."}
	}
	return []string{"We could not confirm the email; your download is here."}
}

func readyHeadline(files int) string {
	switch files {
	case 0:
		return "Your order is ready"
	case 1:
		return "Your download is ready"
	}
	return "Your downloads are ready"
}

// closedText says where the downloads are, once the page by session id offers none any more.
func closedText(v order.View) string {
	closed := "For your safety this page offers downloads and keys only for a while after the payment. "
	if v.Relinked() {
		closed = "The shop has sent a new link for this order, and only that link opens downloads and keys. "
	}
	if v.Facts.Email == order.EmailAccepted && !v.Facts.Delivery.CameBack() {
		return closed + "Please use the link in the email: it keeps working."
	}
	return closed + "Please contact the shop for an email with a lasting link."
}

// address is where the newest email went, or would go.
func address(v order.View) string {
	for i := len(v.Emails) - 1; i >= 0; i-- {
		if v.Emails[i].Address != "" {
			return v.Emails[i].Address
		}
	}
	return v.Address
}

// at names the address, masked: the page may be seen by others than the buyer.
func at(v order.View) string {
	if masked := order.MaskAddress(address(v)); masked != "" {
		return " to " + masked
	}
	return ""
}

// notices are what follows "send it again", by the word in the address.
var notices = map[string]string{
	"1":    "We are sending it again, to the same address.",
	"soon": "We sent it only a little while ago. Please wait a few minutes, and look in the spam folder too.",
	"no":   "It cannot be sent again just now. Please contact the shop.",
}
