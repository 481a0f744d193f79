package order

// Headline is what the order page says about a state, in a few words. The operator's commands say the same.
func (s CustomerState) Headline() string { return headlines[s] }

var headlines = map[CustomerState]string{
	CustomerWaiting:      "Waiting for payment confirmation",
	CustomerProcessing:   "Waiting for payment confirmation",
	CustomerFailed:       "The payment did not go through",
	CustomerPreparing:    "Preparing your download",
	CustomerEmailPending: "Your order is ready",
	CustomerReady:        "Your order is ready",
	CustomerBounced:      "Your order is ready",
	CustomerOnHold:       "On hold while the payment is being disputed",
	CustomerEnded:        "Access has ended",
	CustomerLooking:      "We are looking into it",
	CustomerNotOurs:      "This order is not delivered here",
}

// Headline is what the order page says about the order.
func (v View) Headline() string {
	state := v.Facts.CustomerState()
	if state == CustomerEnded && v.FullyRefunded() {
		return "Refunded: access has ended"
	}
	return state.Headline()
}
