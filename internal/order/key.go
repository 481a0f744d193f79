// Package order is Handover's domain: what identifies an order, the three facts that are kept apart, and the pure rules
// over them. It knows no database, no provider and no engine.
package order

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// ErrBadKey is returned for text that cannot be an order key.
var ErrBadKey = errors.New("not an order key: write ENVIRONMENT/SESSION, for example live/cs_live_a1b2")

var (
	environmentPattern = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	sessionPattern     = regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)
)

// Key identifies an order: the configured payment account and the provider's checkout session. Nothing else does; two
// purchases of one product by one buyer are two orders.
type Key struct {
	Environment string `json:"environment"`
	Session     string `json:"session"`
}

// ParseKey reads the written form, "live/cs_live_a1b2".
func ParseKey(s string) (Key, error) {
	environment, session, found := strings.Cut(strings.TrimSpace(s), "/")
	k := Key{Environment: environment, Session: session}
	if !found || !k.Valid() {
		return Key{}, ErrBadKey
	}
	return k, nil
}

// Valid says whether both halves are well formed. Whether the environment exists, and what its provider's session ids
// look like, is not known here.
func (k Key) Valid() bool { return ValidEnvironment(k.Environment) && ValidSession(k.Session) }

// String is the written form of the key.
func (k Key) String() string { return k.Environment + "/" + k.Session }

// WorkflowID is the Temporal workflow ID of the order.
func (k Key) WorkflowID() string { return "order:" + k.Environment + ":" + k.Session }

// EmailKey is the idempotency key of one generation of the access email. The longest possible one, 253 characters and a
// generation of up to three digits, stays within the 256 that Resend accepts
// (https://resend.com/docs/dashboard/emails/idempotency-keys).
func (k Key) EmailKey(generation int) string {
	return fmt.Sprintf("handover/%s/%s/email/%s", k.Environment, k.Session, strconv.Itoa(generation))
}

// ValidEnvironment says whether s can name an environment.
func ValidEnvironment(s string) bool { return environmentPattern.MatchString(s) }

// ValidSession says whether s can be some provider's checkout session id.
func ValidSession(s string) bool { return sessionPattern.MatchString(s) }
