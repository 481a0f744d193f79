package sandbox

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

const demoBuyer = "ada@example.com"

// waiting is a session on the shop page whose money has not come.
type waiting struct {
	Session
	What string // the names of what was bought
	Open bool   // nobody has finished checkout yet
}

func (s *Sandbox) shopPage(w http.ResponseWriter, _ *http.Request) {
	var list []waiting
	s.mu.Lock()
	for _, id := range slices.Backward(s.sessionSeq) {
		sess := s.sessions[id]
		open := sess.Status == "open"
		debit := sess.Status == "complete" && sess.PaymentStatus == unpaid && sess.PaymentIntent.Status != intentBad
		if (open || debit) && len(list) < 20 {
			list = append(list, waiting{Session: sess, What: itemNames(sess), Open: open})
		}
	}
	paidList := s.shopPaid()
	s.mu.Unlock()
	s.render(w, "shop", map[string]any{
		"Page": "shop", "Products": s.cfg.Products, "Waiting": list, "Paid": paidList, "Email": demoBuyer,
		"Order": s.cfg.ShopReturnURL + "/orders/" + s.cfg.Environment + "/",
	})
}

func itemNames(sess Session) string {
	var names []string
	for _, item := range sess.Items {
		names = append(names, cmp.Or(item.Name, item.Price))
	}
	return strings.Join(names, ", ")
}

// shopBuy is the whole checkout in one press: it makes a finished session, tells the webhook, and sends the buyer back
// to the shop's order page without waiting for either.
func (s *Sandbox) shopBuy(w http.ResponseWriter, r *http.Request) {
	how, price, _ := strings.Cut(r.PostFormValue("buy"), " ")
	if _, known := s.product(price); !known {
		http.Error(w, "There is no such product.", http.StatusBadRequest)
		return
	}
	status, copies := paid, 1
	switch how {
	case "once":
	case "twice":
		copies = 2
	case "later":
		status = unpaid
	default:
		http.Error(w, "There is no such way to buy.", http.StatusBadRequest)
		return
	}
	sess, err := s.CreateSession(Session{
		PaymentStatus: status, Email: strings.TrimSpace(r.PostFormValue("email")), Name: "Ada Example",
		Items: []Item{{Price: price}},
	})
	if err != nil {
		s.shopFailed(w, err)
		return
	}
	s.tellAndReturn(w, r, sess, "checkout.session.completed", copies)
}

// shopSettle lets the money of a waiting session arrive or stay away, or that of a paid one go back.
func (s *Sandbox) shopSettle(w http.ResponseWriter, r *http.Request) {
	patch, event := "", ""
	switch do := r.PostFormValue("do"); do {
	case "refund", "dispute", "won", "lost":
		s.shopReverse(w, r, r.PathValue("id"), do)
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
	sess, err := s.ChangeSession(r.PathValue("id"), []byte(patch))
	if err != nil {
		s.shopFailed(w, err)
		return
	}
	s.tellAndReturn(w, r, sess, event, 1)
}

func (s *Sandbox) tellAndReturn(w http.ResponseWriter, r *http.Request, sess Session, event string, copies int) {
	hook, _, err := s.paymentHook(EventRequest{Type: event, Session: sess.ID})
	if err != nil {
		s.shopFailed(w, err)
		return
	}
	s.deliverLater(hook, copies)
	http.Redirect(w, r, s.backTo(sess), http.StatusSeeOther)
}

// backTo is where the buyer of a session is sent back to.
func (s *Sandbox) backTo(sess Session) string {
	switch {
	case sess.SuccessURL != "":
		return strings.ReplaceAll(sess.SuccessURL, "{CHECKOUT_SESSION_ID}", sess.ID)
	case s.cfg.ShopReturnURL == "":
		return "/"
	}
	return s.cfg.ShopReturnURL + "/orders/" + s.cfg.Environment + "/" + sess.ID
}

func (s *Sandbox) shopFailed(w http.ResponseWriter, err error) {
	s.cfg.Logger.Warn("shop", "error", err)
	http.Error(w, "That did not work: "+err.Error(), http.StatusConflict)
}
