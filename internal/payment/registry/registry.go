// Package registry is the list of payment providers. A new one is one line and its configuration here.
package registry

import (
	"fmt"
	"time"

	"handover/internal/config"
	"handover/internal/payment"
	"handover/internal/payment/creem"
	"handover/internal/payment/stripe"
	"handover/internal/setting"
)

// A provider checks its settings and is opened with them.
type provider struct {
	problems func(config.Environment) []setting.Problem
	open     func(config.Environment, time.Duration) (payment.Provider, error)
}

// providers has one line for each provider.
var providers = map[string]provider{
	"creem":  adapt(creem.Problems, creem.New, creemConfig),
	"stripe": adapt(stripe.Problems, stripe.New, stripeConfig),
}

func adapt[C any, P payment.Provider](problems func(C) []setting.Problem, open func(C) (P, error), convert func(config.Environment, time.Duration) C) provider {
	return provider{
		problems: func(e config.Environment) []setting.Problem { return problems(convert(e, 0)) },
		open: func(e config.Environment, limit time.Duration) (payment.Provider, error) {
			return open(convert(e, limit))
		},
	}
}

func stripeConfig(e config.Environment, callTimeout time.Duration) stripe.Config {
	return stripe.Config{
		APIKey: e.APIKey.Reveal(), WebhookSecrets: config.Reveal(e.WebhookSecrets), Mode: e.Mode, Account: e.Account,
		APIURL: e.APIURL, CallTimeout: callTimeout,
	}
}

func creemConfig(e config.Environment, callTimeout time.Duration) creem.Config {
	return creem.Config{
		APIKey: e.APIKey.Reveal(), WebhookSecrets: config.Reveal(e.WebhookSecrets), Mode: e.Mode, Account: e.Account,
		APIURL: e.APIURL, CallTimeout: callTimeout,
	}
}

// Known has every provider's check of its settings, by the word for it in an environment's configuration.
func Known() map[string]func(config.Environment) []setting.Problem {
	known := map[string]func(config.Environment) []setting.Problem{}
	for name, p := range providers {
		known[name] = p.problems
	}
	return known
}

// Open returns the provider of an environment.
func Open(e config.Environment, step config.Step) (payment.Provider, error) {
	p, found := providers[e.Provider]
	if !found {
		return nil, fmt.Errorf("environment %s: unknown provider %q", e.Name, e.Provider)
	}
	opened, err := p.open(e, step.CallTimeout)
	if err != nil {
		return nil, fmt.Errorf("environment %s: %w", e.Name, err)
	}
	return opened, nil
}
