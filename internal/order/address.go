package order

import (
	"net/mail"
	"strings"
)

// CleanAddress trims the outer spaces of an email address and says whether it is one. Everything else stays as typed:
// plus signs, quotes and letter case belong to the buyer.
func CleanAddress(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 320 || strings.ContainsAny(s, "\r\n\x00") {
		return "", false
	}
	parsed, err := mail.ParseAddress(s)
	if err != nil || parsed.Name != "" || !plain(s, parsed.Address) {
		return "", false
	}
	return s, true
}

// plain says that s is the parsed address and nothing around it: no angle brackets, comments or group. Quotes around
// the local part are the only thing that parsing takes away.
func plain(s, parsed string) bool {
	if s == parsed {
		return true
	}
	local, domain, _ := cutLast(s, "@")
	_, parsedDomain, _ := cutLast(parsed, "@")
	return domain == parsedDomain && len(local) > 2 && local[0] == '"' && local[len(local)-1] == '"'
}

// MaskAddress shows enough of an address for its owner to recognise it: "alex@example.com" is "a•••@e•••.com".
func MaskAddress(s string) string {
	local, domain, found := cutLast(s, "@")
	if !found || local == "" || domain == "" {
		return ""
	}
	name, top, dotted := cutLast(domain, ".")
	if !dotted || name == "" {
		return first(local) + "•••@•••"
	}
	return first(local) + "•••@" + first(name) + "•••." + top
}

func first(s string) string {
	for _, r := range s {
		return string(r)
	}
	return ""
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
