// Package shop is the sandbox's pages: a shop whose buttons are whole checkouts at Stripe's fake, and an inbox of the messages
// that Resend's fake has accepted.
package shop

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"handover/internal/lab/sandbox/core"
	"handover/internal/lab/sandbox/resend"
	"handover/internal/lab/sandbox/stripe"
)

// Config says where the buyer is sent back to.
type Config struct {
	ReturnURL   string // base address of the order page
	Environment string // the environment in the order page's address
	Products    []core.Product
}

// Shop serves the pages.
type Shop struct {
	core   *core.Core
	cfg    Config
	stripe *stripe.Stripe
	resend *resend.Resend
}

// New returns the pages over the fakes.
func New(c *core.Core, cfg Config, s *stripe.Stripe, r *resend.Resend) *Shop {
	return &Shop{core: c, cfg: cfg, stripe: s, resend: r}
}

// Routes adds the pages.
func (s *Shop) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", s.shopPage)
	mux.HandleFunc("POST /shop/buy", s.buy)
	mux.HandleFunc("POST /shop/sessions/{id}", s.settle)
	mux.HandleFunc("GET /inbox", s.inboxPage)
	mux.HandleFunc("GET /inbox/{id}", s.messagePage)
	mux.HandleFunc("GET /inbox/{id}/html", s.messageHTML)
	mux.HandleFunc("POST /inbox/{id}", s.messageMark)
}

const demoBuyer = "ada@example.com"

// How many sessions the page shows.
const (
	shownWaiting = 20
	shownPaid    = 10
)

// waiting is a session on the shop page whose money has not come.
type waiting struct {
	stripe.Session
	What string // the names of what was bought
	Open bool   // nobody has finished checkout yet
}

// paid is a session on the shop page whose money has come.
type paid struct {
	stripe.Session
	What    string // the names of what was bought
	Whole   bool   // nothing was given back yet
	Dispute string // the status of its newest dispute
	Open    bool   // that dispute can still be won or lost
}

func (s *Shop) shopPage(w http.ResponseWriter, _ *http.Request) {
	var unsettled []waiting
	for _, sess := range s.stripe.NewestSessions(shownWaiting, isWaiting) {
		unsettled = append(unsettled, waiting{Session: sess, What: itemNames(sess), Open: sess.Status == "open"})
	}
	var settled []paid
	for _, sess := range s.stripe.NewestSessions(shownPaid, func(sess stripe.Session) bool { return sess.PaymentIntent.Status == "succeeded" }) {
		p := paid{Session: sess, What: itemNames(sess), Whole: sess.Refunded == 0}
		if d, found := s.stripe.NewestDispute(sess.ID); found {
			p.Dispute, p.Open = d.Status, !d.Closed()
		}
		settled = append(settled, p)
	}
	s.render(w, "shop", map[string]any{
		"Page": "shop", "Products": s.cfg.Products, "Waiting": unsettled, "Paid": settled, "Email": demoBuyer,
		"Order": s.cfg.ReturnURL + "/orders/" + s.cfg.Environment + "/",
	})
}

// isWaiting says that the checkout is open, or that a bank debit is under way.
func isWaiting(sess stripe.Session) bool {
	return sess.Status == "open" ||
		sess.Status == "complete" && sess.PaymentStatus == stripe.Unpaid && sess.PaymentIntent.Status != stripe.IntentFailed
}

func itemNames(sess stripe.Session) string {
	var names []string
	for _, item := range sess.Items {
		names = append(names, cmp.Or(item.Name, item.Price))
	}
	return strings.Join(names, ", ")
}

// buy is the whole checkout in one press: it makes a finished session, delivers its webhook, and sends the buyer back to
// the shop's order page without waiting for either.
func (s *Shop) buy(w http.ResponseWriter, r *http.Request) {
	how, price, _ := strings.Cut(r.PostFormValue("buy"), " ")
	if !slices.ContainsFunc(s.cfg.Products, func(p core.Product) bool { return p.Price == price }) {
		http.Error(w, "There is no such product.", http.StatusBadRequest)
		return
	}
	status, copies := stripe.Paid, 1
	switch how {
	case "once":
	case "twice":
		copies = 2
	case "later":
		status = stripe.Unpaid
	default:
		http.Error(w, "There is no such way to buy.", http.StatusBadRequest)
		return
	}

	sess, err := s.stripe.CreateSession(stripe.Session{
		PaymentStatus: status, Email: strings.TrimSpace(r.PostFormValue("email")), Name: "Ada Example",
		Items: []stripe.Item{{Price: price}},
	})
	if err != nil {
		s.failed(w, err)
		return
	}
	s.deliverAndReturn(w, r, sess, "checkout.session.completed", copies)
}

// settle lets the money of a waiting session arrive or stay away, or that of a paid one go back.
func (s *Shop) settle(w http.ResponseWriter, r *http.Request) {
	patch, event := "", ""
	switch do := r.PostFormValue("do"); do {
	case "refund", "dispute", "won", "lost":
		s.reverse(w, r, r.PathValue("id"), do)
		return
	case "pay":
		patch, event = `{"status":"complete","payment_status":"paid"}`, "checkout.session.completed"
	case "arrives":
		patch, event = `{"payment_status":"paid"}`, "checkout.session.async_payment_succeeded"
	case "fails":
		patch, event = `{"payment_intent":{"status":"requires_payment_method"}}`, "checkout.session.async_payment_failed"
	default:
		http.Error(w, "There is no such button.", http.StatusBadRequest)
		return
	}
	sess, err := s.stripe.ChangeSession(r.PathValue("id"), []byte(patch))
	if err != nil {
		s.failed(w, err)
		return
	}
	s.deliverAndReturn(w, r, sess, event, 1)
}

func (s *Shop) deliverAndReturn(w http.ResponseWriter, r *http.Request, sess stripe.Session, event string, copies int) {
	if err := s.stripe.DeliverEventLater(stripe.EventRequest{Type: event, Session: sess.ID, Copies: copies}); err != nil {
		s.failed(w, err)
		return
	}
	http.Redirect(w, r, s.backTo(sess), http.StatusSeeOther)
}

// backTo is where the buyer of a session is sent back to.
func (s *Shop) backTo(sess stripe.Session) string {
	switch {
	case sess.SuccessURL != "":
		return strings.ReplaceAll(sess.SuccessURL, "{CHECKOUT_SESSION_ID}", sess.ID)
	case s.cfg.ReturnURL == "":
		return "/"
	}
	return s.cfg.ReturnURL + "/orders/" + s.cfg.Environment + "/" + sess.ID
}

func (s *Shop) failed(w http.ResponseWriter, err error) {
	s.core.Logger.Warn("shop", "error", err)
	http.Error(w, "That did not work: "+err.Error(), http.StatusConflict)
}
