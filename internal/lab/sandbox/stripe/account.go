package stripe

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"handover/internal/lab/sandbox/core"
)

// Endpoint is a webhook endpoint of the account, as its list says.
type Endpoint struct {
	ID     string   `json:"id"` // we_… when empty
	URL    string   `json:"url"`
	Events []string `json:"enabled_events"` // ["*"] when empty
	Status string   `json:"status"`         // enabled (default) or disabled
	Mode   string   `json:"mode"`           // live or test; seen with any key when empty
}

// Price is what the account knows of a price id.
type Price struct {
	ID       string `json:"id"`
	Product  string `json:"product"`
	Inactive bool   `json:"inactive"` // archived
	Amount   int64  `json:"amount"`   // minor units
	Currency string `json:"currency"`
	Monthly  bool   `json:"monthly"` // a subscription's
	Mode     string `json:"mode"`    // live or test; seen with any key when empty
}

// StockItem is what the account knows of a product id.
type StockItem struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Inactive bool   `json:"inactive"` // archived
	Mode     string `json:"mode"`     // live or test; seen with any key when empty
}

// hidden says that a key of one mode cannot see an object of the other.
func hidden(r *http.Request, mode string) bool {
	return mode == "live" && !liveKey(r) || mode == "test" && liveKey(r)
}

// allEndpoints is https://docs.stripe.com/api/webhook_endpoints/list. Where a test has set none, it is the address that
// events are delivered to.
func (s *Stripe) allEndpoints(r *http.Request) (all []listed) {
	endpoints := s.endpoints
	if endpoints == nil && s.cfg.WebhookURL != "" {
		endpoints = []Endpoint{{ID: "we_sandbox", URL: s.cfg.WebhookURL, Events: []string{"*"}, Status: "enabled"}}
	}
	for _, e := range endpoints {
		if !hidden(r, e.Mode) {
			all = append(all, listed{e.ID, func() any { return endpointObject(e, liveKey(r)) }})
		}
	}
	return all
}

func endpointObject(e Endpoint, live bool) core.Object {
	return core.Object{
		"id": e.ID, "object": "webhook_endpoint", "api_version": apiVersion, "application": nil, "created": accountCreated,
		"description": nil, "enabled_events": e.Events, "livemode": live, "metadata": core.Object{}, "status": e.Status, "url": e.URL,
	}
}

// accountCreated is when everything in the account was set up.
const accountCreated = 1735689600

// findPrice is https://docs.stripe.com/api/prices/retrieve.
func (s *Stripe) findPrice(r *http.Request, id string) (core.Object, bool) {
	p, found := s.prices.Get(id)
	o := priceObject(p, liveKey(r), time.Unix(accountCreated, 0))
	if item, known := s.stock.Get(p.Product); known && expansions(r)["product"] {
		o["product"] = stockObject(item, liveKey(r))
	}
	return o, found && !hidden(r, p.Mode)
}

// findProduct is https://docs.stripe.com/api/products/retrieve.
func (s *Stripe) findProduct(r *http.Request, id string) (core.Object, bool) {
	p, found := s.stock.Get(id)
	return stockObject(p, liveKey(r)), found && !hidden(r, p.Mode)
}

// learn makes known what a session sells, where nothing is known of it yet.
func (s *Stripe) learn(sess Session) {
	for _, item := range sess.Items {
		if !s.prices.Has(item.Price) && item.Price != "" {
			s.prices.Put(item.Price, Price{ID: item.Price, Product: item.Product, Amount: item.Amount, Currency: sess.Currency})
		}
		if !s.stock.Has(item.Product) && item.Product != "" {
			s.stock.Put(item.Product, StockItem{ID: item.Product, Name: item.Name})
		}
	}
}

// priceObject is https://docs.stripe.com/api/prices/object.
func priceObject(p Price, live bool, created time.Time) core.Object {
	kind, recurring := "one_time", any(nil)
	if p.Monthly {
		kind, recurring = "recurring", core.Object{"interval": "month", "interval_count": 1, "meter": nil, "trial_period_days": nil, "usage_type": "licensed"}
	}
	return core.Object{
		"id": p.ID, "object": "price", "active": !p.Inactive, "billing_scheme": "per_unit", "created": created.Unix(),
		"currency": cmp.Or(p.Currency, "usd"), "custom_unit_amount": nil, "livemode": live, "lookup_key": nil,
		"metadata": core.Object{}, "nickname": nil, "product": core.OrNull(p.Product), "recurring": recurring,
		"tax_behavior": "unspecified", "tiers_mode": nil, "transform_quantity": nil, "type": kind,
		"unit_amount": p.Amount, "unit_amount_decimal": strconv.FormatInt(p.Amount, 10),
	}
}

// stockObject is https://docs.stripe.com/api/products/object.
func stockObject(p StockItem, live bool) core.Object {
	return core.Object{
		"id": p.ID, "object": "product", "active": !p.Inactive, "created": accountCreated, "default_price": nil,
		"description": nil, "images": []any{}, "livemode": live, "marketing_features": []any{}, "metadata": core.Object{},
		"name": cmp.Or(p.Name, p.ID), "package_dimensions": nil, "shippable": nil, "statement_descriptor": nil,
		"tax_code": nil, "type": "service", "unit_label": nil, "updated": accountCreated, "url": nil,
	}
}

// retrieveAccount is https://docs.stripe.com/api/accounts/retrieve, for the key's own account.
func retrieveAccount(w http.ResponseWriter, _ *http.Request) {
	core.WriteJSON(w, http.StatusOK, core.Object{
		"id": "acct_1Sandbox", "object": "account", "business_type": nil, "charges_enabled": true, "country": "US",
		"default_currency": "usd", "details_submitted": true, "email": nil, "payouts_enabled": true, "type": "standard",
		"capabilities": core.Object{"card_payments": "active"}, "metadata": core.Object{},
		"settings": core.Object{"dashboard": core.Object{"display_name": "Sandbox", "timezone": "Etc/UTC"}},
	})
}
