// Package providerhttp holds what the webhook signature schemes have in common: an HMAC-SHA256 over a timestamp and the raw
// body, and the window in which that timestamp counts. How a provider writes it into its headers is the provider's folder.
package providerhttp

import (
	"crypto/hmac"
	"crypto/sha256"
	"strconv"
	"time"
)

// Window is how far a timestamp may be off, into the past and into the future. Exactly that much is still accepted. The
// providers' own libraries use the same 300 s into the past (https://docs.stripe.com/webhooks#replay-attacks); the
// future is bounded too, because a captured message with a far timestamp could be replayed for ever.
const Window = 300 * time.Second

// maxDigits keeps a timestamp far from any overflow: twelve digits of seconds reach beyond the year 30000.
const maxDigits = 12

// Fresh says whether the timestamp, in whole seconds since 1970 as the header has it, is within the window around now.
// Anything but plain digits (a sign, a fraction, a number too long) is not.
func Fresh(timestamp string, now time.Time) bool {
	if timestamp == "" || len(timestamp) > maxDigits {
		return false
	}
	for _, c := range []byte(timestamp) {
		if c < '0' || c > '9' {
			return false
		}
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return false
	}
	return now.Sub(time.Unix(seconds, 0)).Abs() <= Window
}

// SHA256 is the HMAC-SHA256 of the parts joined by dots, without copying the body.
func SHA256(key []byte, body []byte, before ...string) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range before {
		mac.Write([]byte(part))
		mac.Write([]byte{'.'})
	}
	mac.Write(body)
	return mac.Sum(nil)
}

// Match says whether one of the candidates is the wanted value. It compares every candidate, in
// constant time, so that the time taken tells nothing about how close a guess was.
func Match(want []byte, candidates [][]byte) bool {
	matched := false
	for _, c := range candidates {
		if hmac.Equal(want, c) {
			matched = true
		}
	}
	return matched
}
