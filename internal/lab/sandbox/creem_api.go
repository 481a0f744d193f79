package sandbox

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
)

// CreemCounts counts the reads that arrived.
type CreemCounts struct {
	Retrieves    map[string]int `json:"retrieves"`    // by checkout
	Customers    int            `json:"customers"`    // single ones
	Transactions map[string]int `json:"transactions"` // pages, by order; "" for those of no single order
}

func (c CreemCounts) clone() CreemCounts {
	c.Retrieves, c.Transactions = maps.Clone(c.Retrieves), maps.Clone(c.Transactions)
	return c
}

// creemRoutes adds Creem's API, at api_url = http://HOST/creem, and its part of the judge's.
func (s *Sandbox) creemRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /creem/v1/checkouts", s.creemCall("creem.checkout", s.retrieveCheckout))
	mux.HandleFunc("POST /creem/v1/checkouts", s.creemCall("creem.create", s.openCheckout))
	mux.HandleFunc("GET /creem/v1/customers", s.creemCall("creem.customer", s.retrieveCustomer))
	mux.HandleFunc("GET /creem/v1/transactions", s.creemCall("creem.transaction", s.retrieveTransaction))
	mux.HandleFunc("GET /creem/v1/transactions/search", s.creemCall("creem.transactions", s.searchTransactions))
	mux.HandleFunc("/creem/", s.creemCall("creem.other", func(w http.ResponseWriter, r *http.Request) {
		creemError(w, http.StatusNotFound, "Cannot "+r.Method+" "+strings.TrimPrefix(r.URL.Path, "/creem"))
	}))

	mux.HandleFunc("PUT /control/creem/config", s.controlCreemConfig)
	mux.HandleFunc("POST /control/creem/checkouts", s.controlCreateCheckout)
	mux.HandleFunc("GET /control/creem/checkouts/{id}", s.controlGetCheckout)
	mux.HandleFunc("PATCH /control/creem/checkouts/{id}", s.controlChangeCheckout)
	mux.HandleFunc("POST /control/creem/events", s.controlDeliverCreem)
}

// creemCall counts a call, applies the faults set for the target and checks the key, in this order: a refused call is
// still one that arrived. A key that is missing or wrong is 403 (https://docs.creem.io/api-reference/error-codes).
func (s *Sandbox) creemCall(target string, next http.HandlerFunc) http.HandlerFunc {
	inner := s.faulty(target, creemRefusal, func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("X-Api-Key")
		if key == "" || len(s.cfg.CreemKeys) > 0 && !slices.Contains(s.cfg.CreemKeys, key) {
			creemError(w, http.StatusForbidden, "Forbidden resource")
			return
		}
		next(w, r)
	})
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.creem.count(target, r)
		s.notify()
		s.mu.Unlock()
		inner(w, r)
	}
}

func (st *creemState) count(target string, r *http.Request) {
	if st.counts.Retrieves == nil {
		st.counts.Retrieves, st.counts.Transactions = map[string]int{}, map[string]int{}
	}
	switch target {
	case "creem.checkout":
		st.counts.Retrieves[r.URL.Query().Get("checkout_id")]++
	case "creem.customer":
		st.counts.Customers++
	case "creem.transactions":
		st.counts.Transactions[r.URL.Query().Get("order_id")]++
	}
}

// creemError answers in the shape of https://docs.creem.io/api-reference/error-codes.
func creemError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, object{
		"trace_id": newUUID(), "status": status, "error": http.StatusText(status), "message": []string{message},
		"timestamp": time.Now().UnixMilli(),
	})
}

func creemRefusal(w http.ResponseWriter, f Fault) {
	status := cmp.Or(f.Status, http.StatusInternalServerError)
	if f.Mode == "rate_limit" {
		status = http.StatusTooManyRequests
	}
	creemError(w, status, cmp.Or(f.Name, "The sandbox was told to refuse this request."))
}

// sees says that a key of its mode knows the checkout: test and live are two APIs.
func (c Checkout) sees(r *http.Request) bool {
	return (c.Mode != "prod") == strings.HasPrefix(r.Header.Get("X-Api-Key"), "creem_test_")
}

// one answers with the first checkout that the key sees and for which the parameter's value holds.
func (s *Sandbox) one(param string, value func(Checkout) string, form func(Checkout) object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		wanted := r.URL.Query().Get(param)
		if wanted == "" {
			creemError(w, http.StatusBadRequest, param+" should not be empty")
			return
		}
		s.mu.Lock()
		c, found := s.creem.where(func(c Checkout) bool { return value(c) == wanted && c.sees(r) })
		s.mu.Unlock()
		if !found {
			creemError(w, http.StatusNotFound, "Not found")
			return
		}
		writeJSON(w, http.StatusOK, form(c))
	}
}

func (s *Sandbox) retrieveCheckout(w http.ResponseWriter, r *http.Request) {
	s.one("checkout_id", func(c Checkout) string { return c.ID },
		func(c Checkout) object { return creemCheckout(c, c.Mode) })(w, r)
}

func (s *Sandbox) retrieveCustomer(w http.ResponseWriter, r *http.Request) {
	s.one("customer_id", func(c Checkout) string { return c.Customer },
		func(c Checkout) object { return creemCustomer(c, c.Mode) })(w, r)
}

func (s *Sandbox) retrieveTransaction(w http.ResponseWriter, r *http.Request) {
	s.one("transaction_id", func(c Checkout) string { return c.Transaction },
		func(c Checkout) object { return creemTransaction(c, c.Mode, inAPI) })(w, r)
}

// searchTransactions is https://docs.creem.io/api-reference/endpoint/get-transactions, newest first, which is not
// documented.
func (s *Sandbox) searchTransactions(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	number, size := pageParam(q.Get("page_number"), 1), min(pageParam(q.Get("page_size"), 10), 100)
	if number < 1 || size < 1 {
		creemError(w, http.StatusBadRequest, "page_number and page_size must be positive numbers")
		return
	}
	fits := func(c Checkout) bool {
		asked := func(param, value string) bool { return q.Get(param) == "" || q.Get(param) == value }
		return c.Transaction != "" && c.sees(r) && asked("order_id", c.Order) && asked("customer_id", c.Customer) && asked("product_id", c.Product)
	}
	var found []Checkout
	s.mu.Lock()
	for _, id := range slices.Backward(s.creem.checkoutSeq) {
		if c := s.creem.checkouts[id]; fits(c) {
			found = append(found, c)
		}
	}
	s.mu.Unlock()
	slices.SortStableFunc(found, func(a, b Checkout) int { return b.Created.Compare(a.Created) })
	total, items := (len(found)+size-1)/size, []object{}
	for _, c := range found[min((number-1)*size, len(found)):min(number*size, len(found))] {
		items = append(items, creemTransaction(c, c.Mode, inAPI))
	}
	pagination := object{"total_records": len(found), "total_pages": total, "current_page": number, "next_page": nil, "prev_page": nil}
	if number < total {
		pagination["next_page"] = number + 1
	}
	if number > 1 {
		pagination["prev_page"] = number - 1
	}
	writeJSON(w, http.StatusOK, object{"items": items, "pagination": pagination})
}

func pageParam(text string, unsaid int) int {
	if text == "" {
		return unsaid
	}
	n, _ := strconv.Atoi(text)
	return n
}

// openCheckout is the part of https://docs.creem.io/api-reference/endpoint/create-checkout that a shop needs. The judge
// completes it.
func (s *Sandbox) openCheckout(w http.ResponseWriter, r *http.Request) {
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
	if json.NewDecoder(io.LimitReader(r.Body, maxBody)).Decode(&in) != nil || in.ProductID == "" {
		creemError(w, http.StatusBadRequest, "product_id should not be empty")
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
		creemError(w, http.StatusBadRequest, err.Error())
		return
	}
	o := creemCheckout(c, c.Mode)
	o["checkout_url"] = "http://" + r.Host + "/creem/checkout/" + c.ID
	writeJSON(w, http.StatusOK, o)
}
