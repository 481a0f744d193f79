package web_test

import (
	"strings"
	"testing"
)

func TestAcceptPicksPageOrJSON(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought())
	for accept, want := range map[string]string{
		"":                                  "text/html",
		"*/*":                               "text/html",
		"text/html":                         "text/html",
		"application/json":                  "application/json",
		"Application/JSON; charset=utf-8":   "application/json",
		"application/json, text/plain, */*": "application/json",
		"application/json, */*;q=0.1":       "application/json",
		"application/json;q=0.9, */*;q=0.8": "application/json",
		"text/html, application/json":       "text/html",
		"application/json, text/html":       "application/json",
		"text/html, application/xml;q=0.9, */*;q=0.8": "text/html",
		"image/webp":                  "text/html",
		"application/jsonp":           "text/html",
		"application/json;q=nonsense": "application/json",
		";;;,,,/":                     "text/html",
	} {
		if got := get(s, orderPath, "Accept", accept).Header().Get("Content-Type"); !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %s, want %s", accept, got, want)
		}
	}
}
