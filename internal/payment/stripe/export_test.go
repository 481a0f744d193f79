package stripe

import "handover/internal/order"

// WithSecret returns a provider with a secret that New refuses, for published examples that have one.
func WithSecret(secret string) *Provider {
	return &Provider{mode: order.Test, secrets: [][]byte{[]byte(secret)}}
}
