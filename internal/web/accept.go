package web

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// wantsJSON says whether the client asks for JSON rather than a page. A wildcard asks for neither: then it is the page.
func wantsJSON(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	object, page := weigh(accept, "application", "json"), weigh(accept, "text", "html")
	switch {
	case object.q == 0:
		return false
	case object.q != page.q:
		return object.q > page.q
	case object.exactness != page.exactness:
		return object.exactness > page.exactness
	}
	return object.exactness == exact && object.place < page.place
}

const (
	anything = iota + 1 // */*
	family              // text/*
	exact               // text/html
)

type weight struct {
	q         float64
	exactness int // 0 when nothing in the header matches
	place     int
}

// weigh finds the most exact media range that matches (https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1).
func weigh(accept, top, subtype string) weight {
	best := weight{}
	for place, entry := range strings.Split(accept, ",") {
		name, params, err := mime.ParseMediaType(entry)
		if err != nil {
			continue
		}
		exactness := 0
		switch name {
		case top + "/" + subtype:
			exactness = exact
		case top + "/*":
			exactness = family
		case "*/*":
			exactness = anything
		}
		if exactness <= best.exactness {
			continue
		}
		q, err := strconv.ParseFloat(params["q"], 64)
		if err != nil || !(q >= 0 && q <= 1) {
			q = 1
		}
		best = weight{q: q, exactness: exactness, place: place}
	}
	return best
}
