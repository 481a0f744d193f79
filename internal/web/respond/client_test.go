package respond_test

import (
	"net/http/httptest"
	"testing"

	"handover/internal/web/respond"
)

func TestClientIsWhoTheNearestProxySays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ remote, forwarded, want string }{
		{"203.0.113.7:1234", "", "203.0.113.7"},
		{"203.0.113.7:1234", "198.51.100.1", "203.0.113.7"},
		{"127.0.0.1:1234", "", "127.0.0.1"},
		{"127.0.0.1:1234", "198.51.100.1", "198.51.100.1"},
		{"127.0.0.1:1234", "10.9.9.9, 198.51.100.1", "198.51.100.1"},
		{"[::1]:1234", "2001:db8::1", "2001:db8::1"},
		{"10.0.0.2:1234", "not an address", "10.0.0.2"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.remote
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := respond.Client(r); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}
