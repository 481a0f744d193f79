package respond

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Client is the address that a request comes from. A proxy on this machine or in its network names it in the last entry of
// X-Forwarded-For, which it writes itself; from anywhere else that header is the client's own word and counts for nothing.
func Client(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	near, err := netip.ParseAddr(host)
	if err != nil || !near.IsLoopback() && !near.IsPrivate() {
		return host
	}
	forwarded := strings.Join(r.Header.Values("X-Forwarded-For"), ",")
	last := strings.TrimSpace(forwarded[strings.LastIndex(forwarded, ",")+1:])
	if far, err := netip.ParseAddr(last); err == nil {
		return far.String()
	}
	return host
}
