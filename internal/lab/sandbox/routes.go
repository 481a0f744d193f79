package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Handler serves the providers' APIs, the judge's API and the pages.
func (s *Sandbox) Handler() http.Handler {
	mux := http.NewServeMux()

	// Stripe: api_url = http://HOST. Stripe's Go client takes an answer only when the whole path begins with /v1; other
	// clients may use http://HOST/stripe.
	for _, base := range []string{"", "/stripe"} {
		sessions := base + "/v1/checkout/sessions"
		mux.HandleFunc("GET "+sessions+"/{id}", s.stripe("stripe.session", s.retrieveSession))
		mux.HandleFunc("GET "+sessions+"/{id}/line_items", s.stripe("stripe.line_items", s.listLineItems))
		mux.HandleFunc("GET "+sessions, s.stripe("stripe.sessions", s.listSessions))
		mux.HandleFunc("POST "+sessions, s.stripe("stripe.create", s.createSession))
		mux.HandleFunc("GET "+base+"/v1/events", s.stripe("stripe.events", s.listEvents))
		s.stripeMoneyRoutes(mux, base)
		s.stripeSetupRoutes(mux, base)
		mux.HandleFunc(base+"/v1/", s.stripe("stripe.other", unknownStripeURL))
	}

	// Resend: api_url = http://HOST/resend
	mux.HandleFunc("POST /resend/emails", s.countCall(s.resend("resend.send", s.limitRate(s.sendEmail))))
	mux.HandleFunc("GET /resend/emails", s.resend("resend.list", s.listEmails))
	mux.HandleFunc("GET /resend/emails/{id}", s.resend("resend.get", s.getEmail))
	s.domainRoutes(mux)
	mux.HandleFunc("/resend/", s.resend("resend.other", unknownResendURL))

	s.creemRoutes(mux)

	// The judge.
	mux.HandleFunc("PUT /control/config", s.controlConfig)
	mux.HandleFunc("POST /control/sessions", s.controlCreateSession)
	mux.HandleFunc("GET /control/sessions/{id}", s.controlGetSession)
	mux.HandleFunc("PATCH /control/sessions/{id}", s.controlChangeSession)
	mux.HandleFunc("POST /control/sessions/{id}", s.controlChangeSession)
	mux.HandleFunc("POST /control/events", s.controlDeliver)
	mux.HandleFunc("POST /control/faults", s.controlAddFault)
	mux.HandleFunc("GET /control/faults", s.controlFaults)
	mux.HandleFunc("DELETE /control/faults", s.controlClearFaults)
	mux.HandleFunc("POST /control/faults/release", s.controlRelease)
	mux.HandleFunc("GET /control/counts", s.controlCounts)
	mux.HandleFunc("GET /control/messages", s.controlMessages)
	mux.HandleFunc("GET /control/wait", s.controlWait)
	mux.HandleFunc("POST /control/emails/{id}/events", s.controlEmailEvent)
	s.moneyControl(mux)

	// The pages.
	mux.HandleFunc("GET /{$}", s.shopPage)
	mux.HandleFunc("POST /shop/buy", s.shopBuy)
	mux.HandleFunc("POST /shop/sessions/{id}", s.shopSettle)
	mux.HandleFunc("GET /inbox", s.inboxPage)
	mux.HandleFunc("GET /inbox/{id}", s.messagePage)
	mux.HandleFunc("GET /inbox/{id}/html", s.messageHTML)
	mux.HandleFunc("POST /inbox/{id}", s.messageMark)
	return mux
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone; there is nobody else to tell
}

// controlError is how the judge's API says no.
func controlError(w http.ResponseWriter, status int, err error) {
	writeJSON(w, status, map[string]string{"error": err.Error()})
}

const maxBody = 16 << 20

// readJSON is strict: a misspelt field in a test must not pass for a default.
func readJSON(r *http.Request, v any) error {
	d := json.NewDecoder(io.LimitReader(r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("request body: %w", err)
	}
	return nil
}
