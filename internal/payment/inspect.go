package payment

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"handover/internal/finding"
)

// Inspector is offered by a provider whose account can be checked against the configuration. It only reads.
type Inspector interface {
	// Inspect checks the key, the account's webhook endpoints and what is for sale, as far as the provider's API shows them.
	// It ends with the context, and says why it could not check something.
	Inspect(ctx context.Context, w Requirements) Inspection
}

// Requirements are what an environment needs of its account.
type Requirements struct {
	WebhookURL string   // where the account's events have to go
	Refs       []string // the catalogue's ids, of whatever provider and mode
}

// Inspection is the state of an account.
type Inspection struct {
	Findings []finding.Finding
	// Sold has the account's listing of an id of the catalogue. An id that is not in it could not be retrieved, or is not
	// one of the provider's.
	Sold map[string]Listing
}

// Listing is how an account has an id of the catalogue.
type Listing string

// The ways an id can be listed.
const (
	ListedActive       Listing = "active"
	ListedArchived     Listing = "archived"     // nobody can buy it any more
	ListedSubscription Listing = "subscription" // no one-time payment: nothing is delivered for it
	ListedNowhere      Listing = "unknown"
)

// The names of what an inspection checks.
const (
	FindingKey        = "payment key"
	FindingPermission = "key permission"
	FindingEndpoint   = "webhook endpoint"
	FindingEvents     = "webhook events"
	FindingCatalogue  = "catalogue"
)

// KeyFinding says what the response to a read shows about the key; provider is the name that people use. It is nil for a
// response that says nothing against the key.
func KeyFinding(provider string, err error) *finding.Finding {
	var e *APIError
	if err == nil || !errors.As(err, &e) {
		return nil
	}
	var f finding.Finding
	switch {
	case e.Status == 0:
		f = finding.Fail(FindingKey, provider+" does not answer",
			"Is this machine's network up, and does its proxy or firewall let it reach "+provider+"? If api_url is set, correct or remove it.")
	case e.Status == http.StatusUnauthorized:
		f = finding.Fail(FindingKey, provider+" refuses the key",
			"Put the account's current key into api_key, restart the worker, then run: starter retry --misconfigured --reason TEXT")
	case e.Status == http.StatusTooManyRequests:
		f = finding.Warn(FindingKey, provider+" asks to come back later", "Run starter check again in some minutes.")
	default:
		f = finding.Fail(FindingKey, fmt.Sprintf("%s answers HTTP %d", provider, e.Status),
			"If "+provider+"'s status page tells of trouble, wait: what is paid meanwhile is kept. If api_url is set, correct or remove it.")
	}
	return &f
}
