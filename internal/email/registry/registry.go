// Package registry is the list of email providers. A new one is one line here.
package registry

import (
	"fmt"
	"maps"
	"slices"

	"handover/internal/config"
	"handover/internal/email"
	"handover/internal/email/resend"
)

// Provider sends messages and reads what became of them.
type Provider interface {
	email.Sender
	email.Webhook
}

// open has one line for each provider.
var open = map[string]func(config.Email, config.Step) (Provider, error){
	"resend": openResend,
}

// Names are the words for provider in the [email] section.
func Names() []string { return slices.Sorted(maps.Keys(open)) }

// Open returns the configured email provider.
func Open(e config.Email, step config.Step) (Provider, error) {
	opener, found := open[e.Provider]
	if !found {
		return nil, fmt.Errorf("email: provider %q is not one of %v", e.Provider, Names())
	}
	return opener(e, step)
}

func openResend(e config.Email, step config.Step) (Provider, error) {
	return resend.New(resend.Config{
		APIKey: e.APIKey.Reveal(), APIURL: e.APIURL, CallTimeout: step.CallTimeout, WebhookSecrets: config.Reveal(e.WebhookSecrets),
	})
}
