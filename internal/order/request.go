package order

// Request is something a person asked for on an order. Its ID survives everything that could repeat it.
type Request struct {
	Key     Key
	ID      string
	Kind    string
	Who     string
	Why     string
	Address string // where to send from now on; empty for no change
	NoSend  bool   // of a relink: no email goes out for it
	NewKeys bool   // of a relink: the licence keys are replaced, too
}

// Decision is what became of a request.
type Decision struct {
	Outcome    Outcome
	Refusal    Refusal
	Generation int    // the email's, when one is sent or joined
	Repeated   bool   // it was decided before; nothing was done now
	Attention  Reason // why a person is still needed after a decision that was taken now
}
