package check

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"handover/internal/config"
	"handover/internal/order"
	"handover/internal/text"
)

const (
	nameConfiguration = "configuration"
	namePublicURL     = "public_url"
	nameAddress       = "public address"
	nameAlerts        = "alerts"
)

// configuration is what can be said without asking anybody. The loader's errors name file and line and hold no
// secret.
func (s Shop) configuration() []Check {
	var list []Check
	if s.Problem != nil {
		list = append(list, fail(nameConfiguration, s.Problem.Error(), "Neither starter nor worker starts like this. Fix it, then run starter check again."))
	}
	if s.Config == nil {
		return list
	}
	if s.Problem == nil {
		list = append(list, good(nameConfiguration, fmt.Sprintf("%s, %s", text.Count(len(s.Config.Environments), "environment"), text.Count(len(s.Config.Products), "product"))))
	}
	list = append(list, s.publicURL(), s.alerts())
	if len(s.Config.Products) == 0 {
		list = append(list, fail(nameCatalogue, "nothing is for sale: every order is ignored", "List what you sell as [[products]] in the configuration."))
	}
	return list
}

// environments are the configured ones in the sequence of their names.
func (s Shop) environments() []config.Environment {
	var list []config.Environment
	for _, name := range slices.Sorted(maps.Keys(s.Config.Environments)) {
		list = append(list, s.Config.Environments[name])
	}
	return list
}

func (s Shop) live() bool {
	return slices.ContainsFunc(s.environments(), func(e config.Environment) bool { return e.Mode == order.Live })
}

// publicURL checks the address that goes into every email.
func (s Shop) publicURL() Check {
	const next = "Write the shop's https address, as buyers reach it from outside, into public_url."
	report := warn
	if s.live() {
		report = fail
	}
	u, err := url.Parse(s.Config.PublicURL)
	switch {
	case err != nil || local(u.Hostname()):
		return report(namePublicURL, "is an address of this machine or its own network: buyers and providers cannot reach it", next)
	case u.Scheme != "https":
		return report(namePublicURL, "is not https: links to what was bought would travel in the open, and providers refuse such an address in live mode", next)
	}
	return good(namePublicURL, s.Config.PublicURL)
}

func local(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.IsLoopback() || ip.IsPrivate() || ip.IsUnspecified() || ip.IsLinkLocalUnicast())
}

func (s Shop) alerts() Check {
	if len(s.Config.Alerts.Email) == 0 && s.Config.Alerts.URL == "" {
		return warn(nameAlerts, "nobody is notified when an order needs a person", "Write email or url below [alerts], or put an alert on the metric handover_attention_orders.")
	}
	var ways []string
	if n := len(s.Config.Alerts.Email); n > 0 {
		ways = append(ways, text.Count(n, "email"))
	}
	if s.Config.Alerts.URL != "" {
		ways = append(ways, "a POST")
	}
	return good(nameAlerts, "the owner is notified by "+strings.Join(ways, " and "))
}

// publicAddress asks for a page that every starter has. A provider follows no redirect; and what this machine cannot
// reach, others may.
func (s Shop) publicAddress(ctx context.Context) []Check {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, s.Config.PublicURL+"/robots.txt", nil)
	if err != nil {
		return nil // the loader has checked it
	}
	resp, err := client.Do(req)
	if err != nil {
		return []Check{warn(nameAddress, "public_url does not respond, asked from this machine",
			"Does starter serve run, and does the proxy pass the address on to LISTEN_ADDR? Open it in a browser elsewhere.")}
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return []Check{fail(nameAddress, "public_url redirects to another address: webhooks are lost, since providers follow no redirect",
			"Write the address that it leads to into public_url and into the webhook endpoints, or let the proxy pass it on.")}
	case resp.StatusCode != http.StatusOK:
		return []Check{warn(nameAddress, fmt.Sprintf("public_url answers HTTP %d", resp.StatusCode),
			"Does starter serve run, and does the proxy pass all of the address on to LISTEN_ADDR?")}
	}
	return []Check{good(nameAddress, "a server answers at public_url")}
}
