package stripe_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"handover/internal/lab/sandbox"
	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/payment/paymenttest"
	"handover/internal/payment/stripe"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	paymenttest.Run(t, paymenttest.Subject{
		New: func(s paymenttest.Settings) (payment.Provider, error) {
			return stripe.New(stripe.Config{
				APIKey: "sk_test_key", WebhookSecrets: s.Secrets, Mode: s.Mode, APIURL: s.APIURL, CallTimeout: s.CallTimeout,
			})
		},
		Secrets:     [2]string{firstSecret, secondSecret},
		Timestamped: true,
		Sign: func(secret string, body []byte, at time.Time) http.Header {
			t := strconv.FormatInt(at.Unix(), 10)
			return signed("t=" + t + ",v1=" + digest(secret, t, string(body)))
		},
		Event:   conformanceEvent,
		IDField: "id", TypeField: "type",
		Session: func(mode order.Mode) string { return "cs_" + string(mode) + "_" + unique() },
		Ref:     func() string { return "pi_" + unique() },
		World:   newWorld,
		Words:   []string{"payment_status", "status"},
		Can:     paymenttest.Abilities{Lines: true, NamesSessions: true, PendingRefunds: true, Inquiries: true},
	})
}

var numbers atomic.Int64

func unique() string { return fmt.Sprintf("a1B2c3D4%d", numbers.Add(1)) }

func conformanceEvent(e paymenttest.Event) []byte {
	kind, subject := "customer.created", map[string]any{"id": "cus_1", "object": "customer"}
	switch e.Kind {
	case payment.EventCheckout:
		kind, subject = "checkout.session.completed", map[string]any{"id": e.Session, "object": "checkout.session", "payment_intent": e.Ref}
	case payment.EventRefund:
		kind, subject = "refund.created", map[string]any{"id": "re_1", "object": "refund", "payment_intent": e.Ref, "charge": "ch_1"}
	case payment.EventDispute:
		kind, subject = "charge.dispute.created", map[string]any{"id": "du_1", "object": "dispute", "payment_intent": e.Ref}
	}
	body, err := json.Marshal(map[string]any{
		"id": e.ID, "object": "event", "type": cmp.Or(e.Type, kind), "livemode": e.Mode == order.Live,
		"data": map[string]any{"object": subject},
	})
	if err != nil {
		panic(err)
	}
	return body
}

// world is the sandbox's Stripe.
type world struct {
	*sandbox.Sandbox
	url      string
	disputes *sync.Map // session → its dispute's id
}

func newWorld(t *testing.T) paymenttest.World {
	judge, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(judge.Handler())
	t.Cleanup(func() { _ = judge.Close(); server.Close() })
	return world{judge, server.URL, &sync.Map{}}
}

func (w world) APIURL() string { return w.url }

func (w world) Sell(t *testing.T, s paymenttest.Sale) paymenttest.Sold {
	t.Helper()
	sess := sandbox.Session{Live: s.Mode == order.Live, Email: s.Buyer.Email, Name: s.Buyer.Name, Currency: "eur", Created: s.At}
	if s.Kind == order.SessionOther {
		sess.Mode = "subscription"
	}
	switch s.Status {
	case payment.StatusOpen:
		sess.Status, sess.PaymentStatus = "open", "unpaid"
	case payment.StatusExpired:
		sess.Status, sess.PaymentStatus = "expired", "unpaid"
	case payment.StatusProcessing:
		sess.PaymentStatus = "unpaid"
	case payment.StatusFree:
		sess.PaymentStatus = "no_payment_required"
	}
	sold := paymenttest.Sold{}
	for range max(s.Lines, 1) {
		product := "prod_" + unique()
		sess.Items = append(sess.Items, sandbox.Item{Price: "price_" + unique(), Product: product, Quantity: s.Units, Amount: s.Price})
		sold.Products = append(sold.Products, product)
	}
	sess, err := w.CreateSession(sess)
	if err != nil {
		t.Fatal(err)
	}
	sold.Session, sold.Ref = sess.ID, sess.PaymentIntent.ID
	return sold
}

func (w world) Refund(t *testing.T, session string, amount int64, status payment.RefundStatus) string {
	t.Helper()
	r, err := w.Sandbox.Refund(sandbox.Refund{Session: session, Amount: amount, Status: string(status)})
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

func (w world) Settle(t *testing.T, _, refund string, status payment.RefundStatus) {
	t.Helper()
	if _, err := w.ChangeRefund(refund, string(status)); err != nil {
		t.Fatal(err)
	}
}

func (w world) Dispute(t *testing.T, session string, status order.Dispute) {
	t.Helper()
	word := map[order.Dispute]string{
		order.DisputeInquiry: "warning_needs_response", order.DisputeOpen: "needs_response", order.DisputeWon: "won", order.DisputeLost: "lost",
	}[status]
	if id, known := w.disputes.Load(session); known {
		if _, err := w.ChangeDispute(id.(string), word); err != nil {
			t.Fatal(err)
		}
		return
	}
	d, err := w.Sandbox.Dispute(sandbox.Dispute{Session: session, Status: word})
	if err != nil {
		t.Fatal(err)
	}
	w.disputes.Store(session, d.ID)
}

func (w world) Refuse(t *testing.T, status int, wait time.Duration) {
	t.Helper()
	w.fault(t, sandbox.Fault{Mode: "refuse", Status: status, RetryAfter: int(wait.Seconds())})
}

func (w world) Hang(t *testing.T) { t.Helper(); w.fault(t, sandbox.Fault{Mode: "hang"}) }

func (w world) fault(t *testing.T, f sandbox.Fault) {
	t.Helper()
	f.Target = "stripe.*"
	if _, err := w.AddFault(f); err != nil {
		t.Fatal(err)
	}
}
