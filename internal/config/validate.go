package config

import (
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"handover/internal/setting"
)

// minLinkSecret is the least length of a link secret, in bytes.
const minLinkSecret = 32

// oneOf refuses a word that is not in the list.
func (r *reader) oneOf(path, word string, words []string) {
	choice := "write one of: " + strings.Join(words, ", ")
	switch {
	case word == "":
		r.p.empty(path, choice)
	case slices.Contains(words, word):
	default:
		if meant := nearest(word, words); meant != "" {
			choice = "did you mean " + meant + "? " + choice
		}
		r.p.add(path, "%s is not known; %s", r.p.shown(path, word), choice)
	}
}

// publicURL checks the address buyers reach the starter at. Its pages are served from the root, so it has no path.
func (r *reader) publicURL(path, s string) string {
	const advice = "write the address that buyers reach the shop's pages at, like https://downloads.example.com"
	s = strings.TrimSpace(s)
	if s == "" {
		r.p.empty(path, advice)
		return ""
	}
	u, ok := parseWeb(s)
	switch {
	case !ok:
		r.p.add(path, "is not an absolute http or https address; %s", advice)
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		r.p.add(path, "must be scheme and host only, without user, query or fragment; %s", advice)
	case strings.Trim(u.Path, "/") != "":
		r.p.add(path, "must not have a path: orders and webhooks are served from the root; %s", advice)
	}
	return strings.TrimRight(s, "/")
}

// cleanURL is the base address of an API without what may stand around it.
func cleanURL(s string) string { return strings.TrimRight(strings.TrimSpace(s), "/") }

func (r *reader) webURL(path, s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	if _, ok := parseWeb(s); !ok {
		r.p.add(path, "is not an absolute http or https address; correct it or remove the setting")
	}
	return s
}

func parseWeb(s string) (*url.URL, bool) {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, false
	}
	return u, true
}

// loopback says that a host is this very machine.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func (r *reader) linkSecrets(path string, texts []string) []Secret {
	const advice = "write at least one secret of 32 bytes or more; openssl rand -hex 32 makes one"
	if len(texts) == 0 {
		r.p.empty(path, advice)
	}
	var secrets []Secret
	for i, s := range texts {
		s, at := strings.TrimSpace(s), element(path, i)
		switch {
		case s == "":
			r.p.empty(at, advice)
		case len(s) < minLinkSecret:
			r.p.add(at, "is too short to be safe: %d bytes; %s", len(s), advice)
		case setting.Repeats(s):
			r.p.add(at, "repeats a few characters and can be guessed; %s", advice)
		}
		secrets = append(secrets, Secret(s))
	}
	return secrets
}

// sender checks an address as it stands in From or Reply-To, with or without a name.
func (r *reader) sender(path, s string, required bool) string {
	const advice = "write it like Example Shop <orders@example.com>"
	s = strings.TrimSpace(s)
	switch _, err := mail.ParseAddress(s); {
	case s == "" && required:
		r.p.empty(path, advice)
	case s == "":
	case err != nil || strings.ContainsAny(s, "\r\n"):
		r.p.add(path, "is not an email address; %s", advice)
	}
	return s
}
