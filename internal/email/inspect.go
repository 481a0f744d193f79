package email

import (
	"context"

	"handover/internal/finding"
)

// Inspector is offered by a Sender whose account can be held against the configuration. It only reads.
type Inspector interface {
	// Inspect looks at the key, and at whether the provider lets the account send as from, an address with or without a
	// name. It ends with the context.
	Inspect(ctx context.Context, from string) []finding.Finding
}

// The names of what an inspection looks at.
const (
	FindingKey    = "email key"
	FindingDomain = "sender domain"
)
