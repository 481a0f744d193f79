// Package access is the list of ways in which a product can be given. Each kind is a folder of its own beside this file.
package access

import (
	"errors"

	"handover/internal/order"
)

// ErrNever means that what is owed can never be given: repeating is useless.
var ErrNever = errors.New("cannot be given")

// Made is one grant as it goes into the ledger.
type Issued struct {
	Unit   int64  // from 1; kinds that are granted once however many units have only unit 1
	Secret string // a licence key; empty for kinds that need none
}

// Own is a kind of access that is wholly Handover's: making it is a row in the ledger, not a call to somebody else.
type Local interface {
	// Kind is the word for it in the catalogue.
	Kind() order.AccessKind
	// Make returns the grants for what is owed. It is called inside the ledger's transaction and does no I/O.
	Issue(due order.Entitlement) ([]Issued, error)
}
