package sandbox

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
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

// stripeSetupRoutes are the reads that check a shop's settings, below a base path.
func (s *Sandbox) stripeSetupRoutes(mux *http.ServeMux, base string) {
	v1 := "GET " + base + "/v1/"
	mux.HandleFunc(v1+"webhook_endpoints", s.stripe("stripe.endpoints", s.listEndpoints))
	mux.HandleFunc(v1+"prices/{id}", s.stripe("stripe.price", s.retrievePrice))
	mux.HandleFunc(v1+"products/{id}", s.stripe("stripe.product", s.retrieveProduct))
	mux.HandleFunc(v1+"account", s.stripe("stripe.account", retrieveAccount))
}

// liveKey says that a request is made with a key of live mode.
func liveKey(r *http.Request) bool { return strings.Contains(stripeKey(r), "_live_") }

// hidden says that a key of one mode cannot see an object of the other.
func hidden(r *http.Request, mode string) bool {
	return mode == "live" && !liveKey(r) || mode == "test" && liveKey(r)
}

// listEndpoints is https://docs.stripe.com/api/webhook_endpoints/list. Where the judge has set none, it is the address
// that events are delivered to.
func (s *Sandbox) listEndpoints(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	all := slices.Clone(s.endpoints)
	if all == nil && s.webhookURL != "" {
		all = []Endpoint{{ID: "we_sandbox", URL: s.webhookURL, Events: []string{"*"}, Status: "enabled"}}
	}
	s.mu.Unlock()
	all = slices.DeleteFunc(all, func(e Endpoint) bool { return hidden(r, e.Mode) })
	writeList(w, r, "/v1/webhook_endpoints", all, func(e Endpoint) string { return e.ID }, func(e Endpoint) object {
		return object{
			"id": e.ID, "object": "webhook_endpoint", "api_version": apiVersion, "application": nil, "created": 1735689600,
			"description": nil, "enabled_events": e.Events, "livemode": liveKey(r), "metadata": object{}, "status": e.Status, "url": e.URL,
		}
	})
}

// retrievePrice is https://docs.stripe.com/api/prices/retrieve.
func (s *Sandbox) retrievePrice(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.mu.Lock()
	p, found := s.prices[id]
	stock := s.stock[p.Product]
	s.mu.Unlock()
	if !found || hidden(r, p.Mode) {
		missing(w, "price", id)
		return
	}
	o := priceObject(p, liveKey(r), time.Unix(1735689600, 0))
	if expansions(r)["product"] && stock.ID != "" {
		o["product"] = stockObject(stock, liveKey(r))
	}
	writeJSON(w, http.StatusOK, o)
}

// priceObject is https://docs.stripe.com/api/prices/object.
func priceObject(p Price, live bool, created time.Time) object {
	kind, recurring := "one_time", any(nil)
	if p.Monthly {
		kind, recurring = "recurring", object{"interval": "month", "interval_count": 1, "meter": nil, "trial_period_days": nil, "usage_type": "licensed"}
	}
	return object{
		"id": p.ID, "object": "price", "active": !p.Inactive, "billing_scheme": "per_unit", "created": created.Unix(),
		"currency": cmp.Or(p.Currency, "usd"), "custom_unit_amount": nil, "livemode": live, "lookup_key": nil,
		"metadata": object{}, "nickname": nil, "product": orNull(p.Product), "recurring": recurring,
		"tax_behavior": "unspecified", "tiers_mode": nil, "transform_quantity": nil, "type": kind,
		"unit_amount": p.Amount, "unit_amount_decimal": strconv.FormatInt(p.Amount, 10),
	}
}

// retrieveProduct is https://docs.stripe.com/api/products/retrieve.
func (s *Sandbox) retrieveProduct(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.mu.Lock()
	p, found := s.stock[id]
	s.mu.Unlock()
	if !found || hidden(r, p.Mode) {
		missing(w, "product", id)
		return
	}
	writeJSON(w, http.StatusOK, stockObject(p, liveKey(r)))
}

// stockObject is https://docs.stripe.com/api/products/object.
func stockObject(p StockItem, live bool) object {
	return object{
		"id": p.ID, "object": "product", "active": !p.Inactive, "created": 1735689600, "default_price": nil,
		"description": nil, "images": []any{}, "livemode": live, "marketing_features": []any{}, "metadata": object{},
		"name": cmp.Or(p.Name, p.ID), "package_dimensions": nil, "shippable": nil, "statement_descriptor": nil,
		"tax_code": nil, "type": "service", "unit_label": nil, "updated": 1735689600, "url": nil,
	}
}

// retrieveAccount is https://docs.stripe.com/api/accounts/retrieve, for the key's own account.
func retrieveAccount(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, object{
		"id": "acct_1Sandbox", "object": "account", "business_type": nil, "charges_enabled": true, "country": "US",
		"default_currency": "usd", "details_submitted": true, "email": nil, "payouts_enabled": true, "type": "standard",
		"capabilities": object{"card_payments": "active"}, "metadata": object{},
		"settings": object{"dashboard": object{"display_name": "Sandbox", "timezone": "Etc/UTC"}},
	})
}
