package creem_test

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"handover/internal/lab/sandbox"
	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/payment/creem"
	"handover/internal/payment/paymenttest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	paymenttest.Run(t, paymenttest.Subject{
		New: func(s paymenttest.Settings) (payment.Provider, error) {
			return creem.New(creem.Config{
				APIKey: "creem_test_key", WebhookSecrets: s.Secrets, Mode: s.Mode, APIURL: s.APIURL, CallTimeout: s.CallTimeout,
			})
		},
		Secrets: [2]string{"whsec_first_secret_of_the_store", "whsec_second_secret_of_the_store"},
		Sign: func(secret string, body []byte, _ time.Time) http.Header {
			mac := hmac.New(sha256.New, []byte(secret))
			mac.Write(body)
			return http.Header{"Creem-Signature": {hex.EncodeToString(mac.Sum(nil))}}
		},
		Event:   event,
		IDField: "id", TypeField: "eventType",
		Session: func(order.Mode) string { return "ch_" + unique() },
		Ref:     func() string { return "ord_" + unique() },
		World:   newWorld,
		Words:   []string{"status"},
	})
}

var numbers atomic.Int64

func unique() string { return fmt.Sprintf("a1B2c3D4e5F6%d", numbers.Add(1)) }

// event has what it is about where Creem has it: a refund's order only inside its transaction.
func event(e paymenttest.Event) []byte {
	mode := map[order.Mode]string{order.Test: "test", order.Live: "prod"}[e.Mode]
	kind, subject := "subscription.paid", map[string]any{"id": "sub_1", "object": "subscription", "status": "active"}
	switch e.Kind {
	case payment.EventCheckout:
		kind = "checkout.completed"
		subject = map[string]any{
			"id": e.Session, "object": "checkout", "status": "completed", "units": 1, "product": map[string]any{"id": "prod_1"},
			"order": map[string]any{"id": e.Ref, "status": "paid", "type": "onetime"},
		}
	case payment.EventRefund:
		kind = "refund.created"
		subject = map[string]any{
			"id": "ref_1", "object": "refund", "status": "succeeded", "refund_amount": 1210, "checkout": nil,
			"transaction": map[string]any{"id": "tran_1", "status": "refunded", "order": e.Ref},
		}
	case payment.EventDispute:
		kind = "dispute.created"
		subject = map[string]any{
			"id": "disp_1", "object": "dispute", "amount": 1210, "transaction": map[string]any{"id": "tran_1", "order": map[string]any{"id": e.Ref}},
		}
	}
	subject["mode"] = mode
	body, err := json.Marshal(map[string]any{
		"id": e.ID, "eventType": cmp.Or(e.Type, kind), "created_at": 1_790_000_000_000, "object": subject,
	})
	if err != nil {
		panic(err)
	}
	return body
}

// world is the sandbox's Creem.
type world struct {
	*sandbox.Sandbox
	url string
}

func newWorld(t *testing.T) paymenttest.World {
	judge, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(judge.Handler())
	t.Cleanup(func() { _ = judge.Close(); server.Close() })
	return world{judge, server.URL + "/creem"}
}

func (w world) APIURL() string { return w.url }

func (w world) Sell(t *testing.T, s paymenttest.Sale) paymenttest.Sold {
	t.Helper()
	c, err := w.CreateCheckout(sandbox.Checkout{
		Mode: map[order.Mode]string{order.Live: "prod"}[s.Mode], Free: s.Status == payment.StatusFree,
		Status: map[payment.SessionStatus]string{
			payment.StatusOpen: "pending", payment.StatusProcessing: "processing", payment.StatusExpired: "expired",
		}[s.Status],
		Recurring: s.Kind == order.SessionOther, Units: s.Units, Amount: s.Price * max(s.Units, 1), Currency: "EUR",
		Email: s.Buyer.Email, Name: s.Buyer.Name, Created: s.At,
	})
	if err != nil {
		t.Fatal(err)
	}
	sold := paymenttest.Sold{Session: c.ID, Products: []string{c.Product}}
	if c.Transaction != "" {
		sold.Ref = c.Order
	}
	return sold
}

func (w world) Refund(t *testing.T, session string, amount int64, status payment.RefundStatus) string {
	t.Helper()
	c, err := w.ChangeCheckout(session, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	w.change(t, session, map[string]any{"refunds": append(c.Refunds, sandbox.CreemRefund{Amount: amount, Status: string(status)})})
	return fmt.Sprint(len(c.Refunds))
}

func (w world) Settle(t *testing.T, session, refund string, status payment.RefundStatus) {
	t.Helper()
	c, err := w.ChangeCheckout(session, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Refunds {
		if fmt.Sprint(i) == refund {
			c.Refunds[i].Status = string(status)
		}
	}
	w.change(t, session, map[string]any{"refunds": c.Refunds})
}

func (w world) Dispute(t *testing.T, session string, status order.Dispute) {
	t.Helper()
	if status != order.DisputeOpen {
		t.Fatalf("Creem has no dispute that is %q", status)
	}
	w.change(t, session, map[string]any{"dispute": "disp_1"})
}

func (w world) change(t *testing.T, session string, fields map[string]any) {
	t.Helper()
	patch, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.ChangeCheckout(session, patch); err != nil {
		t.Fatal(err)
	}
}

func (w world) Refuse(t *testing.T, status int, wait time.Duration) {
	t.Helper()
	w.fault(t, sandbox.Fault{Mode: "refuse", Status: status, RetryAfter: int(wait.Seconds())})
}

func (w world) Hang(t *testing.T) { t.Helper(); w.fault(t, sandbox.Fault{Mode: "hang"}) }

func (w world) fault(t *testing.T, f sandbox.Fault) {
	t.Helper()
	f.Target = "creem.*"
	if _, err := w.AddFault(f); err != nil {
		t.Fatal(err)
	}
}

func FuzzTranslate(f *testing.F) {
	p := provider(f, nil)
	for _, kind := range []payment.EventKind{payment.EventCheckout, payment.EventRefund, payment.EventDispute, payment.EventOther} {
		f.Add(event(paymenttest.Event{ID: "evt_1", Kind: kind, Mode: order.Test, Session: "ch_a1", Ref: "ord_a1"}))
	}
	f.Add([]byte(`{"id":"evt_1","eventType":"refund.created","object":{"transaction":"tran_1","order":"ord_1","mode":"sandbox"}}`))
	f.Add([]byte(`{"id":"evt_1","eventType":"dispute.created","object":{"transaction":{"order":{"id":7}},"order":{"id":"ord_1"},"mode":7}}`))
	f.Add([]byte("\xef\xbb\xbf{\"id\":\"evt_1\",\"eventType\":\"x\",\"object\":null}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		paymenttest.Translated(t, p, body)
		if e, err := p.Translate(body); err == nil && e.Session != "" && !strings.HasPrefix(e.Session, "ch_") {
			t.Fatalf("session %q", e.Session)
		}
	})
}
