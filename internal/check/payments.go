package check

import (
	"context"
	"sync"

	"handover/internal/config"
	"handover/internal/finding"
	"handover/internal/payment"
)

// payments inspects the account of every environment, all at once, and then the catalogue against what they have.
func (s Shop) payments(ctx context.Context) []Check {
	environments := s.environments()
	inspections := make([]payment.Inspection, len(environments))
	var inspecting sync.WaitGroup
	for i, e := range environments {
		inspecting.Go(func() { inspections[i] = s.inspect(ctx, e) })
	}
	inspecting.Wait()
	var list []Check
	for i, e := range environments {
		list = append(list, checksOf(e.Name, inspections[i].Findings...)...)
	}
	return append(list, s.catalogue(environments, inspections)...)
}

func (s Shop) inspect(ctx context.Context, e config.Environment) payment.Inspection {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	provider, err := s.OpenPayment(e, s.Config.Steps.Payment)
	if err != nil {
		// The adapters' errors name the setting and never its value.
		return payment.Inspection{Findings: []finding.Finding{finding.Fail(payment.FindingKey, err.Error(), "Fix it below [environments."+e.Name+"].")}}
	}
	inspector, offered := provider.(payment.Inspector)
	if !offered {
		return payment.Inspection{Findings: []finding.Finding{finding.Warn(payment.FindingKey,
			"the account at "+e.Provider+" cannot be inspected", "Buy something once, and see whether it arrives.")}}
	}
	return inspector.Inspect(ctx, payment.Requirements{WebhookURL: s.Config.PublicURL + "/webhooks/payments/" + e.Name, Refs: s.refs()})
}

// refs are all ids that the catalogue knows products by.
func (s Shop) refs() (refs []string) {
	for _, p := range s.Config.Products {
		refs = append(refs, p.SoldAs...)
	}
	return refs
}
