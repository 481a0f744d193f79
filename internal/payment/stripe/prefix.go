package stripe

import (
	"net/http"
	"net/url"
)

// below sends every request to the same path below a prefix. The client's library knows only paths that begin with its
// API's version, so an API behind a path of a proxy or a stand-in has to be reached underneath it.
type below struct {
	prefix string
	next   http.RoundTripper
}

func (b below) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Path = b.prefix + r.URL.Path
	if r.URL.RawPath != "" {
		r.URL.RawPath = b.prefix + r.URL.RawPath
	}
	return b.next.RoundTrip(r)
}

// split takes the path off a base address and has the client put it back.
func split(base string, client *http.Client) (string, *http.Client) {
	u, err := url.Parse(base)
	if err != nil || u.Path == "" {
		return base, client
	}
	client.Transport = below{prefix: u.Path, next: client.Transport}
	u.Path = ""
	return u.String(), client
}
