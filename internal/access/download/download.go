// Package download gives the right to fetch one file from the shop's bucket.
package download

import (
	"handover/internal/access"
	"handover/internal/order"
)

// Kind is the word for it in the catalogue.
const Kind order.AccessKind = "download"

// Download is the kind. The right is the row in the ledger: the file is looked up, and the right checked, at each fetch.
type Download struct{}

// New returns the kind.
func New() Download { return Download{} }

// Kind is the word for it in the catalogue.
func (Download) Kind() order.AccessKind { return Kind }

// Make returns one grant however many units were bought.
func (Download) Issue(order.Entitlement) ([]access.Issued, error) {
	return []access.Issued{{Unit: 1}}, nil
}
