// Package registry is the list of payment providers. A new one is one line here.
package registry

import (
	"fmt"
	"maps"
	"slices"

	"handover/internal/config"
	"handover/internal/payment"
	"handover/internal/payment/creem"
	"handover/internal/payment/stripe"
)

// open has one line for each provider.
var open = map[string]func(config.Environment, config.Step) (payment.Provider, error){
	"creem":  openCreem,
	"stripe": openStripe,
}

// Names are the words for provider in an environment's configuration.
func Names() []string { return slices.Sorted(maps.Keys(open)) }

// Open returns the provider of an environment.
func Open(e config.Environment, step config.Step) (payment.Provider, error) {
	opener, found := open[e.Provider]
	if !found {
		return nil, fmt.Errorf("environment %s: provider %q is not one of %v", e.Name, e.Provider, Names())
	}
	p, err := opener(e, step)
	if err != nil {
		return nil, fmt.Errorf("environment %s: %w", e.Name, err)
	}
	return p, nil
}

func openStripe(e config.Environment, step config.Step) (payment.Provider, error) {
	return stripe.New(stripe.Config{
		APIKey: e.APIKey.Reveal(), WebhookSecrets: config.Reveal(e.WebhookSecrets), Mode: e.Mode, Account: e.Account,
		APIURL: e.APIURL, CallTimeout: step.CallTimeout,
	})
}

func openCreem(e config.Environment, step config.Step) (payment.Provider, error) {
	return creem.New(creem.Config{
		APIKey: e.APIKey.Reveal(), WebhookSecrets: config.Reveal(e.WebhookSecrets), Mode: e.Mode,
		APIURL: e.APIURL, CallTimeout: step.CallTimeout,
	})
}
