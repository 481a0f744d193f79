package sandbox

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// stripe counts a call, applies the faults set for the target and checks the key, in this order: a refused call is still
// one that arrived.
func (s *Sandbox) stripe(target string, next http.HandlerFunc) http.HandlerFunc {
	inner := s.faulty(target, stripeRefusal, s.stripeAuth(next))
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Request-Id", newID("req_", 14))
		s.mu.Lock()
		switch target {
		case "stripe.session":
			s.retrieves[r.PathValue("id")]++
		case "stripe.line_items":
			s.pages[r.PathValue("id")]++
		case "stripe.sessions":
			s.lists++
		default:
			s.reads[target]++
		}
		s.notify()
		s.mu.Unlock()
		inner(w, r)
	}
}

// stripeAuth takes the key as a bearer token or as the user of basic authentication
// (https://docs.stripe.com/api/authentication).
func (s *Sandbox) stripeAuth(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := stripeKey(r)
		switch {
		case key == "":
			stripeError(w, http.StatusUnauthorized, "invalid_request_error", "", "You did not provide an API key.")
		case len(s.cfg.StripeKeys) > 0 && !slices.Contains(s.cfg.StripeKeys, key):
			stripeError(w, http.StatusUnauthorized, "invalid_request_error", "", "Invalid API Key provided.")
		default:
			next(w, r)
		}
	}
}

func stripeKey(r *http.Request) string {
	if user, _, basic := r.BasicAuth(); basic {
		return user
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return strings.TrimSpace(token)
}

// otherMode says that a key of one mode asks for a session of the other: Stripe does not know it then.
func otherMode(key, session string) bool {
	if strings.Contains(key, "_live_") {
		return strings.HasPrefix(session, "cs_test_")
	}
	return strings.Contains(key, "_test_") && strings.HasPrefix(session, "cs_live_")
}

// stripeError answers in the shape of https://docs.stripe.com/api/errors.
func stripeError(w http.ResponseWriter, status int, kind, code, message string) {
	e := map[string]any{"type": kind, "message": message}
	if code != "" {
		e["code"] = code
		e["doc_url"] = "https://docs.stripe.com/error-codes#" + strings.ReplaceAll(code, "_", "-")
	}
	if id := w.Header().Get("Request-Id"); id != "" {
		e["request_log_url"] = "https://dashboard.stripe.com/test/logs/" + id
	}
	writeJSON(w, status, map[string]any{"error": e})
}

func stripeRefusal(w http.ResponseWriter, f Fault) {
	status, kind, code := f.Status, "api_error", f.Name
	switch {
	case f.Mode == "rate_limit":
		status, kind = http.StatusTooManyRequests, "invalid_request_error"
		code = cmp.Or(code, "rate_limit")
	case status == 0:
		status = http.StatusInternalServerError
	case status < 500:
		kind = "invalid_request_error"
	}
	stripeError(w, status, kind, code, "The sandbox was told to refuse this request.")
}

func unknownStripeURL(w http.ResponseWriter, r *http.Request) {
	stripeError(w, http.StatusNotFound, "invalid_request_error", "",
		"Unrecognized request URL ("+r.Method+": "+strings.TrimPrefix(r.URL.Path, "/stripe")+").")
}

func missing(w http.ResponseWriter, what, id string) {
	stripeError(w, http.StatusNotFound, "invalid_request_error", "resource_missing", "No such "+what+": '"+id+"'")
}

// retrieveSession is https://docs.stripe.com/api/checkout/sessions/retrieve.
func (s *Sandbox) retrieveSession(w http.ResponseWriter, r *http.Request) {
	sess, found := s.visibleSession(r)
	if !found {
		missing(w, "checkout.session", r.PathValue("id"))
		return
	}
	writeJSON(w, http.StatusOK, s.stripeSession(sess, expansions(r)))
}

func (s *Sandbox) visibleSession(r *http.Request) (Session, bool) {
	id := r.PathValue("id")
	s.mu.Lock()
	defer s.mu.Unlock()
	sess, found := s.sessions[id]
	return sess, found && !otherMode(stripeKey(r), id)
}

// expansions collects expand[]=a, expand[0]=a and so on.
func expansions(r *http.Request) map[string]bool {
	set := map[string]bool{}
	for name, values := range r.URL.Query() {
		if strings.HasPrefix(name, "expand[") {
			for _, v := range values {
				set[strings.TrimPrefix(v, "data.")] = true
			}
		}
	}
	return set
}

// page cuts one page out of a list as https://docs.stripe.com/api/pagination has it. ok is false after an answer of 400.
func page[T any](w http.ResponseWriter, r *http.Request, all []T, id func(T) string) (items []T, more, ok bool) {
	q := r.URL.Query()
	limit := 10
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 100 {
			stripeError(w, http.StatusBadRequest, "invalid_request_error", "parameter_invalid_integer",
				"Invalid limit: must be between 1 and 100.")
			return nil, false, false
		}
		limit = n
	}
	after, before := q.Get("starting_after"), q.Get("ending_before")
	at := slices.IndexFunc(all, func(t T) bool { return id(t) == cmp.Or(after, before) })
	switch {
	case after == "" && before == "":
	case after != "" && before != "":
		stripeError(w, http.StatusBadRequest, "invalid_request_error", "", "You may only specify one of starting_after and ending_before.")
		return nil, false, false
	case at < 0:
		stripeError(w, http.StatusBadRequest, "invalid_request_error", "resource_missing", "No such object: '"+cmp.Or(after, before)+"'")
		return nil, false, false
	case after != "":
		all = all[at+1:]
	default: // the page that ends just before it, in the same order
		return all[max(0, at-limit):at], at > limit, true
	}
	return all[:min(limit, len(all))], len(all) > limit, true
}

func stripeList(url string, data any, more bool) map[string]any {
	return map[string]any{"object": "list", "url": url, "has_more": more, "data": data}
}
