// Package config reads handover.toml and the process settings, and refuses at start what would lose a sale later.
package config

import (
	"fmt"
	"io"
	"math"
	"time"

	"handover/internal/order"
)

// Secret is a string that never prints itself.
type Secret string

// String hides the secret, also from %v, %s and slog.
func (Secret) String() string { return "REDACTED" }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return "REDACTED" }

// Format hides the secret from every verb of fmt; a wrong one such as %d would print it otherwise.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "REDACTED") }

// MarshalText hides the secret from encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte("REDACTED"), nil }

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// Config is the shop's configuration with every default filled in.
type Config struct {
	PublicURL    string // without a trailing slash
	LinkSecrets  []Secret
	Environments map[string]Environment
	Email        Email
	Alerts       Alerts
	FilesBucket  string // a gocloud.dev/blob URL
	Orders       Orders
	Steps        Steps
	Products     []order.Product
}

// Environment is one payment account in one mode.
type Environment struct {
	Name           string
	Provider       string
	Mode           order.Mode
	APIKey         Secret
	WebhookSecrets []Secret
	Account        string // the connected account whose events are accepted; empty for the account's own
	APIURL         string // empty for the provider's own
}

// Email is the sender of messages.
type Email struct {
	Provider          string
	APIKey            Secret
	From              string
	ReplyTo           string // empty for none
	WebhookSecrets    []Secret
	RatePerSecond     float64
	IdempotencyWindow time.Duration
	APIURL            string
}

// Alerts is where the owner is notified.
type Alerts struct {
	Email  []string
	URL    string
	Secret Secret // signs the POST; empty for none
}

// Orders bounds how long an order is waited for.
type Orders struct {
	OpenFor         time.Duration
	AwaitPaymentFor time.Duration
	PageDownloadFor time.Duration
	StuckAfter      time.Duration // without progress, until the order's run is made to read the ledger again
	UnreachedAfter  time.Duration // after the payment, until an order counts as unreached that nothing shows to have arrived
	AttentionAfter  time.Duration // without progress, until a person is asked
}

// Steps are the retry policies of the activities.
type Steps struct {
	Payment Step
	Access  Step
	Email   Step
	Revoke  Step
}

// Step bounds the automatic attempts of one activity.
type Step struct {
	Attempts    int
	FirstWait   time.Duration
	Factor      float64
	LongestWait time.Duration
	GiveUpAfter time.Duration // schedule-to-close
	CallTimeout time.Duration // a provider call ends within it; the attempt's start-to-close is 5 s more
}

// StartToClose is how long one attempt may take, and so how long its claim lasts.
func (s Step) StartToClose() time.Duration { return s.CallTimeout + 5*time.Second }

// Wait is how long after an attempt that failed the next one begins.
func (s Step) Wait(attempt int) time.Duration {
	wait := float64(s.FirstWait) * math.Pow(s.Factor, float64(attempt-1))
	return time.Duration(min(wait, float64(s.LongestWait)))
}

// SendWindow is how long after the first attempt an automatic send may still start: the provider's idempotency window
// less a margin of an hour, or of a tenth of the window where that is less.
func (e Email) SendWindow() time.Duration {
	margin := min(time.Hour, e.IdempotencyWindow/10)
	return e.IdempotencyWindow - margin
}

// Reveal returns the secrets themselves.
func Reveal(secrets []Secret) []string {
	revealed := make([]string, len(secrets))
	for i, s := range secrets {
		revealed[i] = s.Reveal()
	}
	return revealed
}
