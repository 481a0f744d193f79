package setting

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

const (
	// SecretPrefix begins most providers' signing secrets.
	SecretPrefix = "whsec_"
	// MinSecret is the least length of a signing secret, the prefix not counted: a shorter one can be guessed.
	MinSecret = 16
	// minBytes is the least number of different bytes in a secret that is not a repetition of a few.
	minBytes = 8
)

// OnePiece refuses a key with a space or a line end inside: it was pasted together, and no request could carry it.
func OnePiece(name, key string) []Problem {
	if strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return []Problem{{Name: name, Text: "has a space or a line end inside; paste it again in one piece"}}
	}
	return nil
}

// Secrets checks each signing secret: other reports what the provider says against one, empty for nothing.
func Secrets(name string, secrets []string, advice string, other func(secret string) string) []Problem {
	var problems []Problem
	for i, s := range secrets {
		s, at := strings.TrimSpace(s), Element(name, i)
		switch text := other(s); {
		case s == "":
			problems = append(problems, Problem{Name: at, Missing: true, Text: advice})
		case text != "":
			problems = append(problems, Problem{Name: at, Text: text})
		case len(strings.TrimPrefix(s, SecretPrefix)) < MinSecret:
			problems = append(problems, Problem{Name: at, Text: fmt.Sprintf(
				"is too short to be a signing secret: it has fewer than %d characters; %s", MinSecret, advice)})
		default:
			problems = append(problems, OnePiece(at, s)...)
		}
	}
	return problems
}

// Repeats says whether a text consists of a few characters over and over, and so is no secret.
func Repeats(s string) bool {
	different := map[byte]bool{}
	for i := range len(s) {
		different[s[i]] = true
	}
	return len(different) < minBytes
}

// LooksLike says what a pasted text probably is, from its beginning; empty when the beginning gives no hint.
func LooksLike(s string) string {
	switch {
	case strings.HasPrefix(s, SecretPrefix):
		return "an endpoint's signing secret"
	case strings.HasPrefix(s, "we_"):
		return "the endpoint's id"
	case HasAnyPrefix(s, "sk_", "rk_", "re_", "creem_"):
		return "an API key"
	case strings.HasPrefix(s, "pk_"):
		return "a publishable key"
	case strings.HasPrefix(s, "acct_"):
		return "an account id"
	case HasAnyPrefix(s, "http://", "https://"):
		return "an address"
	}
	return ""
}

// HasAnyPrefix says whether one of the prefixes begins the text.
func HasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(s, prefix) })
}

// SigningKey decodes a secret of the Standard Webhooks scheme: base64, with or without the padding
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
func SigningKey(secret string) ([]byte, error) {
	text := strings.TrimPrefix(strings.TrimSpace(secret), SecretPrefix)
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
}
