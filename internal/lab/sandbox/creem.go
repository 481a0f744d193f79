package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"handover/internal/order"
)

// Checkout is a checkout at Creem as the judge sets it up, with its order, its transaction and its customer. Creem's forms
// of them are made from it.
type Checkout struct {
	ID          string            `json:"id"`           // ch_… when empty
	Mode        string            `json:"mode"`         // test (default), prod, sandbox, local
	Status      string            `json:"status"`       // completed (default), pending, processing, expired
	OrderStatus string            `json:"order_status"` // paid or pending; what follows from Status when empty
	Recurring   bool              `json:"recurring"`    // a subscription's
	Free        bool              `json:"free"`         // nothing to pay
	Product     string            `json:"product"`      // prod_…
	ProductName string            `json:"product_name"`
	Units       int64             `json:"units"`    // 1 when 0
	Amount      int64             `json:"amount"`   // of all units, with tax, in minor units; the product's price, else 1000, when 0
	Tax         int64             `json:"tax"`      // what of Amount is tax
	Currency    string            `json:"currency"` // the product's, else USD
	Email       string            `json:"email"`
	Name        string            `json:"name"`
	Bare        bool              `json:"bare"` // order, product and customer are given by their ids only
	Order       string            `json:"order"`
	Transaction string            `json:"transaction"`
	Customer    string            `json:"customer"`
	Refunds     []CreemRefund     `json:"refunds,omitempty"`
	Dispute     string            `json:"dispute,omitempty"` // disp_…: the buyer's bank took the money back
	RequestID   string            `json:"request_id,omitempty"`
	SuccessURL  string            `json:"success_url,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	Created     time.Time         `json:"created,omitzero"`
}

// CreemRefund is money of a checkout that went back.
type CreemRefund struct {
	ID     string `json:"id"`     // ref_… when empty
	Amount int64  `json:"amount"` // minor units; what is left of the payment when 0
	Status string `json:"status"` // succeeded (default), pending, failed, canceled
}

// creemState is the Creem part of what the sandbox knows.
type creemState struct {
	checkouts   map[string]Checkout
	checkoutSeq []string // ids, oldest first
	counts      CreemCounts
	webhookURL  string
}

func (st *creemState) apply(c Checkout) {
	if st.checkouts == nil {
		st.checkouts = map[string]Checkout{}
	}
	if _, known := st.checkouts[c.ID]; !known {
		st.checkoutSeq = append(st.checkoutSeq, c.ID)
	}
	st.checkouts[c.ID] = c
}

// where finds the first checkout for which the rule holds.
func (st *creemState) where(holds func(Checkout) bool) (Checkout, bool) {
	for _, id := range st.checkoutSeq {
		if c := st.checkouts[id]; holds(c) {
			return c, true
		}
	}
	return Checkout{}, false
}

var errUnknownCheckout = errors.New("checkout: unknown")

// The words of https://docs.creem.io/api-reference/endpoint/get-checkout, and the modes of the events' samples.
var (
	checkoutStates  = []string{"pending", "processing", "completed", "expired"}
	creemModes      = []string{"test", "prod", "sandbox", "local"}
	creemGiveBacks  = []string{"pending", "succeeded", "failed", "canceled"}
	creemOrderWords = []string{"paid", "pending"}
)

// fillCheckout completes what the judge left out.
func (s *Sandbox) fillCheckout(c *Checkout) error {
	c.ID = cmp.Or(c.ID, newID("ch_", 22))
	c.Mode = cmp.Or(c.Mode, "test")
	c.Status = cmp.Or(c.Status, "completed")
	c.Units = cmp.Or(c.Units, 1)
	c.Product = cmp.Or(c.Product, newID("prod_", 22))
	c.Created = cmp.Or(c.Created, s.cfg.Now().UTC())
	for _, p := range s.cfg.Products {
		if p.Product == c.Product {
			c.ProductName = cmp.Or(c.ProductName, p.Name)
			c.Amount = cmp.Or(c.Amount, p.Amount*c.Units)
			c.Currency = cmp.Or(c.Currency, p.Currency)
		}
	}
	c.ProductName, c.Amount = cmp.Or(c.ProductName, "Product"), cmp.Or(c.Amount, 1000)
	c.Currency = strings.ToUpper(cmp.Or(c.Currency, "usd"))
	if c.Free {
		c.Amount, c.Tax = 0, 0
	}
	if c.ordered() {
		c.Order = cmp.Or(c.Order, newID("ord_", 22))
		c.Customer = cmp.Or(c.Customer, newID("cust_", 22))
		if c.Amount > 0 {
			c.Transaction = cmp.Or(c.Transaction, newID("tran_", 22))
		}
		if c.OrderStatus == "" {
			c.OrderStatus = "pending"
			if c.Status == "completed" {
				c.OrderStatus = "paid"
			}
		}
	}
	if err := c.check(); err != nil {
		return err
	}
	return c.fillRefunds()
}

// ordered says that the buyer has begun to pay: then there is an order.
func (c *Checkout) ordered() bool { return c.Status == "completed" || c.Status == "processing" }

// fillRefunds completes the refunds and holds them against what was paid.
func (c *Checkout) fillRefunds() error {
	c.Refunds = slices.Clone(c.Refunds) // the old ones may be being read
	left := c.Amount
	for i := range c.Refunds {
		r := &c.Refunds[i]
		r.ID = cmp.Or(r.ID, newID("ref_", 22))
		r.Amount = cmp.Or(r.Amount, left)
		r.Status = cmp.Or(r.Status, "succeeded")
		if !slices.Contains(creemGiveBacks, r.Status) {
			return fmt.Errorf("refunds: status: one of %s", strings.Join(creemGiveBacks, ", "))
		}
		if r.Amount < 1 || r.Amount > left {
			return fmt.Errorf("refunds: amount: %d is left of the payment", left)
		}
		if r.Status == "succeeded" {
			left -= r.Amount
		}
	}
	return nil
}

func (c *Checkout) check() error {
	switch {
	case !order.ValidSession(c.ID):
		return errors.New("id: not a checkout id")
	case !slices.Contains(creemModes, c.Mode):
		return fmt.Errorf("mode: one of %s", strings.Join(creemModes, ", "))
	case !slices.Contains(checkoutStates, c.Status):
		return fmt.Errorf("status: one of %s", strings.Join(checkoutStates, ", "))
	case c.OrderStatus != "" && !slices.Contains(creemOrderWords, c.OrderStatus):
		return fmt.Errorf("order_status: one of %s", strings.Join(creemOrderWords, ", "))
	case c.Amount < 0 || c.Tax < 0 || c.Tax > c.Amount:
		return errors.New("amount, tax: minor units, and the tax is a part of the amount")
	case (len(c.Refunds) > 0 || c.Dispute != "") && (c.OrderStatus != "paid" || c.Transaction == ""):
		return errors.New("refunds, dispute: nothing has been paid")
	}
	return nil
}

// refunded is what has gone back for good.
func (c *Checkout) refunded() (total int64) {
	for _, r := range c.Refunds {
		if r.Status == "succeeded" {
			total += r.Amount
		}
	}
	return total
}

// CreateCheckout adds a checkout as the judge wants it, with everything left out filled in.
func (s *Sandbox) CreateCheckout(c Checkout) (Checkout, error) {
	if err := s.fillCheckout(&c); err != nil {
		return c, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.creem.checkouts[c.ID]; taken {
		return c, errors.New("id: there is such a checkout already; change it with PATCH")
	}
	return c, s.record(entry{Checkout: &c})
}

// ChangeCheckout applies the fields that a JSON object names: {"status":"completed"} lets the buyer finish,
// {"order_status":"paid"} lets the money arrive, {"refunds":[{"amount":500}]} gives some of it back and
// {"dispute":"disp_1"} takes it back.
func (s *Sandbox) ChangeCheckout(id string, patch []byte) (Checkout, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, found := s.creem.checkouts[id]
	if !found {
		return c, errUnknownCheckout
	}
	var named map[string]json.RawMessage
	if err := json.Unmarshal(patch, &named); err != nil {
		return c, fmt.Errorf("request body: %w", err)
	}
	// A decoder writes into the slices and maps it finds: give it none of ours.
	if _, given := named["refunds"]; given {
		c.Refunds = nil
	}
	if _, given := named["metadata"]; given {
		c.Metadata = nil
	}
	if _, given := named["order_status"]; !given && len(named["status"]) > 0 {
		c.OrderStatus = ""
	}
	d := json.NewDecoder(bytes.NewReader(patch))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("request body: %w", err)
	}
	if c.ID != id {
		return c, errors.New("id: cannot change")
	}
	if err := s.fillCheckout(&c); err != nil {
		return c, err
	}
	return c, s.record(entry{Checkout: &c})
}
