package creem

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"handover/internal/finding"
	"handover/internal/payment"
)

var _ payment.Inspector = (*Provider)(nil)

// Inspect tries the key with the read that refunds and the reconciliation need
// (https://docs.creem.io/api-reference/endpoint/get-transactions). Creem's API does not tell of webhooks: that they come is
// seen from the last one that came.
func (p *Provider) Inspect(ctx context.Context, _ payment.Requirements) payment.Inspection {
	_, err := p.get(ctx, "/v1/transactions/search", url.Values{"page_number": {"1"}, "page_size": {"1"}})
	var refused *payment.APIError
	if errors.As(err, &refused) && refused.Status == http.StatusForbidden {
		// Creem's answer to a key that is wrong (https://docs.creem.io/api-reference/error-codes).
		err = &payment.APIError{Status: http.StatusUnauthorized}
	}
	if f := payment.KeyFinding("Creem", err); f != nil {
		return payment.Inspection{Findings: []finding.Finding{*f}}
	}
	return payment.Inspection{Findings: []finding.Finding{finding.Good(payment.FindingKey, "Creem takes the key, in "+string(p.mode)+" mode")}}
}
