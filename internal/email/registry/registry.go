// Package registry is the list of email providers. A new one is one line here.
package registry

import (
	"fmt"
	"time"

	"handover/internal/config"
	"handover/internal/email"
	"handover/internal/email/resend"
	"handover/internal/setting"
)

// Provider sends messages and reads what became of them.
type Provider interface {
	email.Sender
	email.Webhook
}

// An adapter checks its settings and is opened with them.
type adapter struct {
	problems func(config.Email) []setting.Problem
	open     func(config.Email, time.Duration) (Provider, error)
}

// adapters has one line for each provider.
var adapters = map[string]adapter{
	"resend": adapt(resend.Problems, resend.New, resendConfig),
}

func adapt[C any, P Provider](problems func(C) []setting.Problem, open func(C) (P, error), convert func(config.Email, time.Duration) C) adapter {
	return adapter{
		problems: func(e config.Email) []setting.Problem { return problems(convert(e, 0)) },
		open:     func(e config.Email, limit time.Duration) (Provider, error) { return open(convert(e, limit)) },
	}
}

func resendConfig(e config.Email, callTimeout time.Duration) resend.Config {
	return resend.Config{
		APIKey: e.APIKey.Reveal(), APIURL: e.APIURL, CallTimeout: callTimeout, WebhookSecrets: config.Reveal(e.WebhookSecrets),
		Window: e.IdempotencyWindow,
	}
}

// Known has every provider's check of its settings, by the word for it in the [email] section.
func Known() map[string]func(config.Email) []setting.Problem {
	known := map[string]func(config.Email) []setting.Problem{}
	for name, a := range adapters {
		known[name] = a.problems
	}
	return known
}

// Open returns the configured email provider.
func Open(e config.Email, step config.Step) (Provider, error) {
	a, found := adapters[e.Provider]
	if !found {
		return nil, fmt.Errorf("email: unknown provider %q", e.Provider)
	}
	return a.open(e, step.CallTimeout)
}
