package stripe

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"handover/internal/lab/sandbox/core"
)

// retrieve serves GET of one object. find is called under the lock.
func (s *Stripe) retrieve(what string, find func(r *http.Request, id string) (core.Object, bool)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		s.core.Lock()
		o, found := find(r, id)
		s.core.Unlock()
		if !found {
			missing(w, what, id)
			return
		}
		core.WriteJSON(w, http.StatusOK, o)
	}
}

// listed is one object of a list, which is shown only where its page is.
type listed struct {
	id   string
	show func() any
}

// list serves GET of a list. all is called under the lock.
func (s *Stripe) list(url string, all func(*http.Request) []listed) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.core.Lock()
		found := all(r)
		s.core.Unlock()
		writeList(w, r, url, found)
	}
}

// writeList answers with one page of a list.
func writeList(w http.ResponseWriter, r *http.Request, url string, all []listed) {
	found, more, ok := page(w, r, all)
	if !ok {
		return
	}
	data := []any{}
	for _, one := range found {
		data = append(data, one.show())
	}
	core.WriteJSON(w, http.StatusOK, listObject(url, data, more))
}

func listObject(url string, data any, more bool) core.Object {
	return core.Object{"object": "list", "url": url, "has_more": more, "data": data}
}

// page cuts one page out of a list as https://docs.stripe.com/api/pagination has it. ok is false after an answer of 400.
func page(w http.ResponseWriter, r *http.Request, all []listed) (items []listed, more, ok bool) {
	q := r.URL.Query()
	limit := 10
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 100 {
			writeError(w, http.StatusBadRequest, "parameter_invalid_integer", "Invalid limit: must be between 1 and 100.")
			return nil, false, false
		}
		limit = n
	}

	after, before := q.Get("starting_after"), q.Get("ending_before")
	at := slices.IndexFunc(all, func(one listed) bool { return one.id == cmp.Or(after, before) })
	switch {
	case after == "" && before == "":
	case after != "" && before != "":
		writeError(w, http.StatusBadRequest, "", "You may only specify one of starting_after and ending_before.")
		return nil, false, false
	case at < 0:
		writeError(w, http.StatusBadRequest, "resource_missing", "No such object: '"+cmp.Or(after, before)+"'")
		return nil, false, false
	case after != "":
		all = all[at+1:]
	default: // the page that ends just before it, in the same order
		return all[max(0, at-limit):at], at > limit, true
	}
	return all[:min(limit, len(all))], len(all) > limit, true
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

// createdRange reads created=n and created[gt|gte|lt|lte]=n.
func createdRange(q url.Values) func(int64) bool {
	bound := func(name string, holds func(created, limit int64) bool) func(int64) bool {
		limit, err := strconv.ParseInt(q.Get(name), 10, 64)
		return func(created int64) bool { return err != nil || holds(created, limit) }
	}
	bounds := []func(int64) bool{
		bound("created", func(c, n int64) bool { return c == n }),
		bound("created[gt]", func(c, n int64) bool { return c > n }),
		bound("created[gte]", func(c, n int64) bool { return c >= n }),
		bound("created[lt]", func(c, n int64) bool { return c < n }),
		bound("created[lte]", func(c, n int64) bool { return c <= n }),
	}
	return func(created int64) bool {
		return !slices.ContainsFunc(bounds, func(holds func(int64) bool) bool { return !holds(created) })
	}
}
