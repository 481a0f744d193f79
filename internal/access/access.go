// Package access is the port of the ways in which a product can be given. Each kind is a folder of its own beside this
// file, which checks and presents its own settings and grants.
package access

import (
	"errors"

	"handover/internal/order"
	"handover/internal/setting"
)

// ErrNever means that an entitlement can never be given: repeating is useless.
var ErrNever = errors.New("cannot be given")

// Kind describes one way of giving access to the catalogue and to the buyer's pages.
type Kind interface {
	// Kind is the word for it in the catalogue.
	Kind() order.AccessKind
	// Validate lists what is wrong with an entry of the catalogue.
	Validate(spec order.AccessSpec) []setting.Problem
	// Files lists what an entry needs from the shop's bucket.
	Files(spec order.AccessSpec) []string
	// Present returns what a page or an email hands out for a grant.
	Present(grant order.Grant) Goods
}

// Goods are what the buyer gets from our pages. They are empty for access that is given elsewhere.
type Goods struct {
	File string // a file of the shop's bucket
	Key  string // a licence key
}

// Issued is one grant as it goes into the ledger.
type Issued struct {
	Unit   int64  // from 1; kinds that are granted once however many units have only unit 1
	Secret string // a licence key; empty for kinds that need none
}

// Local is a kind of access that needs no provider: issuing it is a row in the ledger.
type Local interface {
	// Kind is the word for it in the catalogue.
	Kind() order.AccessKind
	// Issue returns the grants for an entitlement. It is called inside the ledger's transaction and does no I/O.
	Issue(entitlement order.Entitlement) ([]Issued, error)
}

// Kinds are the kinds of one binary.
type Kinds []Kind

// Of finds the kind of an entry or a grant.
func (k Kinds) Of(word order.AccessKind) (Kind, bool) {
	for _, kind := range k {
		if kind.Kind() == word {
			return kind, true
		}
	}
	return nil, false
}

// Present returns what a page or an email hands out for a grant; nothing for one of a kind that this binary lacks.
func (k Kinds) Present(grant order.Grant) Goods {
	if kind, found := k.Of(grant.Kind); found {
		return kind.Present(grant)
	}
	return Goods{}
}

// Names lists the words of the kinds.
func (k Kinds) Names() []string {
	var names []string
	for _, kind := range k {
		names = append(names, string(kind.Kind()))
	}
	return names
}

// Local lists the kinds that need no provider.
func (k Kinds) Local() []Local {
	var local []Local
	for _, kind := range k {
		if l, ok := kind.(Local); ok {
			local = append(local, l)
		}
	}
	return local
}
