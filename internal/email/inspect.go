package email

import (
	"context"

	"handover/internal/finding"
)

// Inspector is offered by a Sender whose account can be checked against the configuration. It only reads.
type Inspector interface {
	// Inspect checks the key, and whether the provider lets the account send as from, an address with or without a
	// name. It ends with the context.
	Inspect(ctx context.Context, from string) []finding.Finding
}

// The names of what an inspection checks.
const (
	FindingKey    = "email key"
	FindingDomain = "sender domain"
)
