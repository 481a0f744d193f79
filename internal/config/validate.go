package config

import (
	"encoding/base64"
	"net/mail"
	"net/url"
	"slices"
	"strings"

	"handover/internal/order"
)

// Sizes below which a secret can be guessed or is something else.
const (
	minLinkSecret    = 32 // bytes
	minWebhookSecret = 8  // characters, after the prefix where the provider has one
	minEmailSecret   = 16 // bytes, decoded
)

const (
	stripe       = "stripe"
	creem        = "creem"
	secretPrefix = "whsec_"
)

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

// baseURL checks the base address of an API; empty stays empty.
func (r *reader) baseURL(path, s string) string {
	return strings.TrimRight(r.webURL(path, s), "/")
}

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
		}
		secrets = append(secrets, Secret(s))
	}
	return secrets
}

// paymentKey refuses a key of the other mode: it would ask the wrong half of the account about every order.
func (r *reader) paymentKey(path, key string, e Environment) Secret {
	key = strings.TrimSpace(key)
	if key == "" {
		r.p.empty(path, "write the payment account's secret API key, as ${NAME} from the environment")
		return ""
	}
	r.inOnePiece(path, key)
	switch e.Provider {
	case stripe:
		r.stripeKey(path, key, e)
	case creem:
		r.creemKey(path, key, e)
	}
	return Secret(key)
}

// stripeKey knows the prefixes of https://docs.stripe.com/keys.
func (r *reader) stripeKey(path, key string, e Environment) {
	isLive := hasAnyPrefix(key, "sk_live_", "rk_live_")
	isTest := hasAnyPrefix(key, "sk_test_", "rk_test_")
	switch {
	case isLive && e.Mode == order.Test:
		r.p.add(path, `is a live key, but the environment's mode is "test"; use the test key (sk_test_ or rk_test_) or correct the mode`)
	case isTest && e.Mode == order.Live:
		r.p.add(path, `is a test key, but the environment's mode is "live"; use the live key (sk_live_ or rk_live_) or correct the mode`)
	case hasAnyPrefix(key, "pk_", secretPrefix, "we_", "acct_", "http"):
		r.p.add(path, "looks like %s, not like a secret API key; paste the one that starts with sk_ or rk_", looksLike(key))
	}
}

// creemKey knows the two kinds of https://docs.creem.io/getting-started/test-mode: a test key is a key, too.
func (r *reader) creemKey(path, key string, e Environment) {
	isTest := strings.HasPrefix(key, "creem_test_")
	switch {
	case !strings.HasPrefix(key, "creem_"):
		r.p.add(path, "is not a Creem API key; those start with creem_ or creem_test_")
	case isTest && e.Mode == order.Live:
		r.p.add(path, `is a test key, but the environment's mode is "live"; use the live key (creem_) or correct the mode`)
	case !isTest && e.Mode == order.Test:
		r.p.add(path, `is a live key, but the environment's mode is "test"; use the test key (creem_test_) or correct the mode`)
	}
}

func (r *reader) paymentSecrets(path string, texts []string, provider string) []Secret {
	const advice = "paste the signing secret that the provider shows for this webhook endpoint"
	if len(texts) == 0 {
		r.p.empty(path, advice)
	}
	var secrets []Secret
	for i, s := range texts {
		s, at := strings.TrimSpace(s), element(path, i)
		body, prefixed := strings.CutPrefix(s, secretPrefix)
		switch {
		case s == "":
			r.p.empty(at, advice)
		case provider == stripe && !prefixed && looksLike(s) != "":
			r.p.add(at, "looks like %s, not its signing secret; paste the one that starts with whsec_", looksLike(s))
		case provider == stripe && !prefixed:
			r.p.add(at, "is not a Stripe signing secret; those start with whsec_ and are shown with the endpoint")
		case hasAnyPrefix(s, "http://", "https://"), provider == creem && strings.HasPrefix(s, "creem_"):
			r.p.add(at, "looks like %s, not its signing secret; %s", looksLike(s), advice)
		case len(body) < minWebhookSecret:
			r.p.add(at, "is too short to be a signing secret; %s", advice)
		}
		r.inOnePiece(at, s)
		secrets = append(secrets, Secret(s))
	}
	return secrets
}

// account checks the connected account of a Stripe environment.
func (r *reader) account(path string, e Environment) string {
	account := strings.TrimSpace(e.Account)
	switch {
	case account != "" && e.Provider == creem:
		r.p.add(path, "is Stripe's: a Creem key belongs to one store; remove it")
	case account != "" && e.Provider == stripe && !strings.HasPrefix(account, "acct_"):
		r.p.add(path, "is not a Stripe account id; those start with acct_")
	}
	return account
}

// inOnePiece refuses a key with a space or a line end inside: it was pasted together, and no request could carry it.
func (r *reader) inOnePiece(path, key string) {
	if strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		r.p.add(path, "has a space or a line end inside; paste it again in one piece")
	}
}

func (r *reader) emailKey(path, key string) Secret {
	key = strings.TrimSpace(key)
	switch {
	case key == "":
		r.p.empty(path, "write the email provider's API key, as ${NAME} from the environment")
	case hasAnyPrefix(key, secretPrefix, "http://", "https://"):
		r.p.add(path, "looks like %s, not like an API key", looksLike(key))
	}
	r.inOnePiece(path, key)
	return Secret(key)
}

// emailSecrets checks secrets of the Standard Webhooks scheme (https://www.standardwebhooks.com): the part after whsec_
// is the key in base64. Missing padding is filled in.
func (r *reader) emailSecrets(path string, texts []string) []Secret {
	const advice = "paste the signing secret of the email provider's webhook; it starts with whsec_"
	var secrets []Secret
	for i, s := range texts {
		s, at := strings.TrimSpace(s), element(path, i)
		body, prefixed := strings.CutPrefix(s, secretPrefix)
		key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(body, "="))
		switch {
		case s == "":
			r.p.empty(at, advice)
		case !prefixed && looksLike(s) != "":
			r.p.add(at, "looks like %s, not its signing secret; %s", looksLike(s), advice)
		case !prefixed:
			r.p.add(at, "is not a signing secret; %s", advice)
		case err != nil:
			r.p.add(at, "is damaged: what follows whsec_ is not base64; %s", advice)
		case len(key) < minEmailSecret:
			r.p.add(at, "is too short to be a signing secret: %d bytes; %s", len(key), advice)
		}
		secrets = append(secrets, Secret(secretPrefix+base64.StdEncoding.EncodeToString(key)))
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

// looksLike says what a pasted text probably is, from its beginning; empty when it gives no hint. The text itself is
// never shown.
func looksLike(s string) string {
	switch {
	case strings.HasPrefix(s, secretPrefix):
		return "an endpoint's signing secret"
	case strings.HasPrefix(s, "we_"):
		return "the endpoint's id"
	case hasAnyPrefix(s, "sk_", "rk_", "re_", "creem_"):
		return "an API key"
	case strings.HasPrefix(s, "pk_"):
		return "a publishable key"
	case strings.HasPrefix(s, "acct_"):
		return "an account id"
	case hasAnyPrefix(s, "http://", "https://"):
		return "an address"
	}
	return ""
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(s, prefix) })
}
