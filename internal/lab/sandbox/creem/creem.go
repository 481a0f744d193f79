package creem

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"handover/internal/lab/sandbox/core"
)

// Config says whom the fake pretends to be.
type Config struct {
	Secret     string         // signs the events
	Keys       []string       // accepted API keys; none means any that is not empty
	WebhookURL string         // where events go; empty for nowhere
	Products   []core.Product // what is on sale
}

// Creem is the fake.
type Creem struct {
	core *core.Core
	cfg  Config

	checkouts core.Table[Checkout]
	counts    Counts
	record    func(Checkout) error
}

// Counts are the reads that arrived.
type Counts struct {
	Retrieves    map[string]int `json:"retrieves"`    // by checkout
	Customers    int            `json:"customers"`    // single ones
	Transactions map[string]int `json:"transactions"` // pages, by order; "" for those of no single order
}

// New registers the fake with the core.
func New(c *core.Core, cfg Config) *Creem {
	s := &Creem{core: c, cfg: cfg, counts: Counts{Retrieves: map[string]int{}, Transactions: map[string]int{}}}
	s.record = core.Entries(c, "checkout", func(c Checkout) { s.checkouts.Put(c.ID, c) })
	c.Count("retrieves", func(what core.WaitFor) (n int) {
		for id, times := range s.counts.Retrieves {
			if what.Session == "" || id == what.Session {
				n += times
			}
		}
		return n
	})
	return s
}

// Counts returns the numbers of this moment.
func (s *Creem) Counts() Counts {
	s.core.Lock()
	defer s.core.Unlock()
	c := s.counts
	c.Retrieves, c.Transactions = maps.Clone(c.Retrieves), maps.Clone(c.Transactions)
	return c
}

// SetCreemWebhookURL changes where events go from now on.
func (s *Creem) SetCreemWebhookURL(url string) {
	s.core.Lock()
	defer s.core.Unlock()
	s.cfg.WebhookURL = url
}

// Routes adds the API, at api_url = http://HOST/creem.
func (s *Creem) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /creem/v1/checkouts", s.call("creem.checkout",
		s.one("checkout_id", func(c Checkout) string { return c.ID }, func(c Checkout) core.Object { return checkoutObject(c, c.Mode) })))
	mux.HandleFunc("POST /creem/v1/checkouts", s.call("creem.create", s.openCheckout))
	mux.HandleFunc("GET /creem/v1/customers", s.call("creem.customer",
		s.one("customer_id", func(c Checkout) string { return c.Customer }, func(c Checkout) core.Object { return customerObject(c, c.Mode) })))
	mux.HandleFunc("GET /creem/v1/transactions", s.call("creem.transaction",
		s.one("transaction_id", func(c Checkout) string { return c.Transaction }, func(c Checkout) core.Object { return transactionObject(c, c.Mode, inAPI) })))
	mux.HandleFunc("GET /creem/v1/transactions/search", s.call("creem.transactions", s.searchTransactions))
	mux.HandleFunc("/creem/", s.call("creem.other", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusNotFound, "Cannot "+r.Method+" "+strings.TrimPrefix(r.URL.Path, "/creem"))
	}))
}

// call counts a call, applies the faults set for the target and checks the key, in this order: a refused call is still
// one that arrived. A key that is missing or wrong is 403 (https://docs.creem.io/api-reference/error-codes).
func (s *Creem) call(target string, next http.HandlerFunc) http.HandlerFunc {
	inner := s.core.Faulty(core.Guard{Target: target, Refuse: refuse}, func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("X-Api-Key")
		if key == "" || len(s.cfg.Keys) > 0 && !slices.Contains(s.cfg.Keys, key) {
			writeError(w, http.StatusForbidden, "Forbidden resource")
			return
		}
		next(w, r)
	})
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		s.core.Lock()
		switch target {
		case "creem.checkout":
			s.counts.Retrieves[q.Get("checkout_id")]++
		case "creem.customer":
			s.counts.Customers++
		case "creem.transactions":
			s.counts.Transactions[q.Get("order_id")]++
		}
		s.core.Changed()
		s.core.Unlock()
		inner(w, r)
	}
}

// writeError answers in the shape of https://docs.creem.io/api-reference/error-codes.
func writeError(w http.ResponseWriter, status int, message string) {
	core.WriteJSON(w, status, core.Object{
		"trace_id": uuid.NewString(), "status": status, "error": http.StatusText(status), "message": []string{message},
		"timestamp": time.Now().UnixMilli(),
	})
}

func refuse(w http.ResponseWriter, f core.Fault) {
	status := cmp.Or(f.Status, http.StatusInternalServerError)
	if f.Mode == "rate_limit" {
		status = http.StatusTooManyRequests
	}
	writeError(w, status, cmp.Or(f.Name, "The sandbox refuses this request because a fault says so."))
}

// seenBy says that a key of its mode knows the checkout: test and live are two APIs.
func (c Checkout) seenBy(r *http.Request) bool {
	return (c.Mode != "prod") == strings.HasPrefix(r.Header.Get("X-Api-Key"), "creem_test_")
}

// one answers with the first checkout that the key sees and for which the parameter's value holds.
func (s *Creem) one(param string, value func(Checkout) string, form func(Checkout) core.Object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		wanted := r.URL.Query().Get(param)
		if wanted == "" {
			writeError(w, http.StatusBadRequest, param+" should not be empty")
			return
		}
		c, found := s.first(func(c Checkout) bool { return value(c) == wanted && c.seenBy(r) })
		if !found {
			writeError(w, http.StatusNotFound, "Not found")
			return
		}
		core.WriteJSON(w, http.StatusOK, form(c))
	}
}

func (s *Creem) first(fits func(Checkout) bool) (Checkout, bool) {
	s.core.Lock()
	defer s.core.Unlock()
	for c := range s.checkouts.Oldest() {
		if fits(c) {
			return c, true
		}
	}
	return Checkout{}, false
}

// searchTransactions is https://docs.creem.io/api-reference/endpoint/get-transactions, newest first, which is not
// documented.
func (s *Creem) searchTransactions(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	number, size := pageParam(q.Get("page_number"), 1), min(pageParam(q.Get("page_size"), 10), 100)
	if number < 1 || size < 1 {
		writeError(w, http.StatusBadRequest, "page_number and page_size must be positive numbers")
		return
	}
	fits := func(c Checkout) bool {
		asked := func(param, value string) bool { return q.Get(param) == "" || q.Get(param) == value }
		return c.Transaction != "" && c.seenBy(r) && asked("order_id", c.Order) && asked("customer_id", c.Customer) && asked("product_id", c.Product)
	}
	var found []Checkout
	s.core.Lock()
	for c := range s.checkouts.Newest() {
		if fits(c) {
			found = append(found, c)
		}
	}
	s.core.Unlock()
	slices.SortStableFunc(found, func(a, b Checkout) int { return b.Created.Compare(a.Created) })
	total, items := (len(found)+size-1)/size, []core.Object{}
	for _, c := range found[min((number-1)*size, len(found)):min(number*size, len(found))] {
		items = append(items, transactionObject(c, c.Mode, inAPI))
	}
	pagination := core.Object{"total_records": len(found), "total_pages": total, "current_page": number, "next_page": nil, "prev_page": nil}
	if number < total {
		pagination["next_page"] = number + 1
	}
	if number > 1 {
		pagination["prev_page"] = number - 1
	}
	core.WriteJSON(w, http.StatusOK, core.Object{"items": items, "pagination": pagination})
}

func pageParam(text string, unsaid int) int {
	if text == "" {
		return unsaid
	}
	n, _ := strconv.Atoi(text)
	return n
}

// openCheckout is the part of https://docs.creem.io/api-reference/endpoint/create-checkout that a shop needs. A test
// completes it.
func (s *Creem) openCheckout(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ProductID  string            `json:"product_id"`
		RequestID  string            `json:"request_id"`
		Units      int64             `json:"units"`
		SuccessURL string            `json:"success_url"`
		Metadata   map[string]string `json:"metadata"`
		Customer   struct {
			Email string `json:"email"`
		} `json:"customer"`
	}
	if json.NewDecoder(io.LimitReader(r.Body, core.MaxBody)).Decode(&in) != nil || in.ProductID == "" {
		writeError(w, http.StatusBadRequest, "product_id should not be empty")
		return
	}
	c := Checkout{
		Status: "pending", Mode: "prod", Product: in.ProductID, Units: in.Units, Email: in.Customer.Email,
		RequestID: in.RequestID, SuccessURL: in.SuccessURL, Metadata: in.Metadata,
	}
	if strings.HasPrefix(r.Header.Get("X-Api-Key"), "creem_test_") {
		c.Mode = "test"
	}
	c, err := s.CreateCheckout(c)
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	o := checkoutObject(c, c.Mode)
	o["checkout_url"] = "http://" + r.Host + "/creem/checkout/" + c.ID
	core.WriteJSON(w, http.StatusOK, o)
}
