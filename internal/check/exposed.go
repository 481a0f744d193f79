package check

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"handover/internal/order"
)

const (
	nameEncryption = "encryption"
	nameTestSales  = "test sales"
)

// exposed names what travels in the open between machines, and test sales that give real goods.
func (s Shop) exposed() (list []Check) {
	if unverified(s.DatabaseURL) {
		list = append(list, warn(nameEncryption, "DATABASE_URL leads to another machine without a verified certificate: who is between reads and changes orders",
			"Add sslmode=verify-full (and sslrootcert) to DATABASE_URL."))
	}
	if s.TemporalAddress != "" && !s.TemporalTLS && !here(s.TemporalAddress) {
		list = append(list, warn(nameEncryption, "TEMPORAL_ADDRESS leads to another machine without TLS: who is between can signal and end workflows",
			"Set TEMPORAL_TLS=true, with the certificates that your Temporal asks for."))
	}
	if s.Config == nil {
		return list
	}
	for _, e := range s.environments() {
		if u, err := url.Parse(e.APIURL); err == nil && e.Mode == order.Live && u.Scheme == "http" && !here(u.Host) {
			list = append(list, warn(nameEncryption, "its live api_key is sent to api_url in the open", "Use https, or leave api_url out.").of(e.Name))
		}
	}
	return append(list, s.testSales()...)
}

// testSales warns of an environment in which anybody can buy with a test card, beside one that is real.
func (s Shop) testSales() (list []Check) {
	for _, e := range s.environments() {
		if e.Mode == order.Test && s.live() {
			list = append(list, warn(nameTestSales, "a test purchase gives the real files (its licence keys begin with TEST-)",
				"Keep its checkout from the public, or remove the environment from the shop that sells.").of(e.Name))
		}
	}
	return list
}

// unverified says that a connection to another machine may be read or taken over.
func unverified(databaseURL string) bool {
	parsed, err := pgconn.ParseConfig(databaseURL)
	if databaseURL == "" || err != nil {
		return false
	}
	hosts := append([]*pgconn.FallbackConfig{{Host: parsed.Host, TLSConfig: parsed.TLSConfig}}, parsed.Fallbacks...)
	for _, h := range hosts {
		open := h.TLSConfig == nil || h.TLSConfig.InsecureSkipVerify && h.TLSConfig.VerifyPeerCertificate == nil
		if open && !here(h.Host) {
			return true
		}
	}
	return false
}

// here says that an address is of this machine. A name without a dot is one of a container's own network.
func here(address string) bool {
	host := address
	if name, _, err := net.SplitHostPort(address); err == nil {
		host = name
	}
	ip, err := netip.ParseAddr(host)
	if err == nil {
		return ip.IsLoopback()
	}
	return host == "" || host == "localhost" || strings.HasPrefix(host, "/") || !strings.Contains(host, ".")
}
