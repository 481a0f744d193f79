// Package creem is the fake of Creem: checkouts with their orders, transactions and customers, and the events about them. It
// speaks what https://docs.creem.io says.
package creem

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"handover/internal/lab/sandbox/core"
	"handover/internal/order"
)

// Checkout is a checkout at Creem as a test sets it up, with its order, its transaction and its customer. Creem's forms
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
	Refunds     []Refund          `json:"refunds,omitempty"`
	Dispute     string            `json:"dispute,omitempty"` // disp_…: the buyer's bank took the money back
	RequestID   string            `json:"request_id,omitempty"`
	SuccessURL  string            `json:"success_url,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	Created     time.Time         `json:"created,omitzero"`
}

// Refund is money of a checkout that went back.
type Refund struct {
	ID     string `json:"id"`     // ref_… when empty
	Amount int64  `json:"amount"` // minor units; what is left of the payment when 0
	Status string `json:"status"` // succeeded (default), pending, failed, canceled
}

var errUnknown = fmt.Errorf("checkout: %w", core.ErrUnknown)

// The words of https://docs.creem.io/api-reference/endpoint/get-checkout, and the modes of the events' samples.
var (
	checkoutStates = []string{"pending", "processing", "completed", "expired"}
	modes          = []string{"test", "prod", "sandbox", "local"}
	refundStates   = []string{"pending", "succeeded", "failed", "canceled"}
	orderStates    = []string{"paid", "pending"}
)

// fill completes what the test left out.
func (s *Creem) fill(c *Checkout) error {
	c.ID = cmp.Or(c.ID, core.NewID("ch_", 22))
	c.Mode = cmp.Or(c.Mode, "test")
	c.Status = cmp.Or(c.Status, "completed")
	c.Units = cmp.Or(c.Units, 1)
	c.Product = cmp.Or(c.Product, core.NewID("prod_", 22))
	c.Created = cmp.Or(c.Created, s.core.Now().UTC())
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
		c.Order = cmp.Or(c.Order, core.NewID("ord_", 22))
		c.Customer = cmp.Or(c.Customer, core.NewID("cust_", 22))
		if c.Amount > 0 {
			c.Transaction = cmp.Or(c.Transaction, core.NewID("tran_", 22))
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
		r.ID = cmp.Or(r.ID, core.NewID("ref_", 22))
		r.Amount = cmp.Or(r.Amount, left)
		r.Status = cmp.Or(r.Status, "succeeded")
		if !slices.Contains(refundStates, r.Status) {
			return core.OneOf("refunds: status", refundStates)
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
	case !slices.Contains(modes, c.Mode):
		return core.OneOf("mode", modes)
	case !slices.Contains(checkoutStates, c.Status):
		return core.OneOf("status", checkoutStates)
	case c.OrderStatus != "" && !slices.Contains(orderStates, c.OrderStatus):
		return core.OneOf("order_status", orderStates)
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

// CreateCheckout adds a checkout as the test wants it, with everything left out filled in.
func (s *Creem) CreateCheckout(c Checkout) (Checkout, error) {
	if err := s.fill(&c); err != nil {
		return c, err
	}
	s.core.Lock()
	defer s.core.Unlock()
	if s.checkouts.Has(c.ID) {
		return c, errors.New("id: there is such a checkout already; change it with PATCH")
	}
	return c, s.record(c)
}

// Checkout returns a checkout as it is now.
func (s *Creem) Checkout(id string) (Checkout, error) {
	s.core.Lock()
	defer s.core.Unlock()
	c, found := s.checkouts.Get(id)
	if !found {
		return c, errUnknown
	}
	return c, nil
}

// ChangeCheckout applies the fields that a JSON object names: {"status":"completed"} lets the buyer finish,
// {"order_status":"paid"} lets the money arrive, {"refunds":[{"amount":500}]} gives some of it back and
// {"dispute":"disp_1"} takes it back.
func (s *Creem) ChangeCheckout(id string, patch []byte) (Checkout, error) {
	s.core.Lock()
	defer s.core.Unlock()
	c, found := s.checkouts.Get(id)
	if !found {
		return c, errUnknown
	}
	status := c.OrderStatus
	c.OrderStatus = ""
	named, err := core.Patch(patch, &c, map[string]func(){
		"refunds": func() { c.Refunds = nil }, "metadata": func() { c.Metadata = nil },
	})
	if err != nil {
		return c, err
	}
	if _, given := named["order_status"]; !given && len(named["status"]) == 0 {
		c.OrderStatus = status // else it follows from the new status
	}
	if c.ID != id {
		return c, errors.New("id: cannot change")
	}
	if err := s.fill(&c); err != nil {
		return c, err
	}
	return c, s.record(c)
}

// CompleteCheckout lets the buyer of a pending checkout pay.
func (s *Creem) CompleteCheckout(id string) (Checkout, error) {
	return s.ChangeCheckout(id, []byte(`{"status":"completed"}`))
}

// RefundCheckout gives money back, in minor units; what is left of the payment when 0.
func (s *Creem) RefundCheckout(id string, amount int64) (Checkout, error) {
	now, err := s.Checkout(id)
	if err != nil {
		return now, err
	}
	patch, err := json.Marshal(map[string]any{"refunds": append(now.Refunds, Refund{Amount: amount})})
	if err != nil {
		return now, err
	}
	return s.ChangeCheckout(id, patch)
}

// DisputeCheckout lets the buyer's bank take the money back.
func (s *Creem) DisputeCheckout(id string) (Checkout, error) {
	return s.ChangeCheckout(id, []byte(`{"dispute":"`+core.NewID("disp_", 22)+`"}`))
}
