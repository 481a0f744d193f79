// Package license gives a licence key for each unit that was bought.
package license

import (
	"fmt"
	"io"

	"handover/internal/access"
	"handover/internal/order"
	"handover/internal/setting"
)

// Kind is the word for it in the catalogue.
const Kind order.AccessKind = "license"

// MaxUnits bounds the keys of one product in one order; all of them are written in one transaction.
const MaxUnits = 10_000

// ErrUnits means that the order asks for no licence, or for more than MaxUnits.
var ErrUnits = fmt.Errorf("number of licences out of range: %w", access.ErrNever)

// alphabet is Crockford's base32: no I, L, O or U, so that a key survives being read aloud and typed
// (https://www.crockford.com/base32.html).
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// A key has five groups of five letters of five bits each: 125 bits, which nobody guesses and no two keys share.
const (
	groups      = 5
	groupLength = 5
)

// License is the kind.
type License struct{ random io.Reader }

// New returns the kind, drawing keys from random: crypto/rand.Reader outside tests.
func New(random io.Reader) License { return License{random: random} }

// Kind is the word for it in the catalogue.
func (License) Kind() order.AccessKind { return Kind }

// Validate refuses what an entry cannot have: a licence is made here and comes from no file.
func (License) Validate(spec order.AccessSpec) []setting.Problem {
	if spec.File != "" {
		return []setting.Problem{{Name: "file", Text: "is not for a license; remove it"}}
	}
	return nil
}

// Files lists nothing.
func (License) Files(order.AccessSpec) []string { return nil }

// Present hands out the key.
func (License) Present(grant order.Grant) access.Goods { return access.Goods{Key: grant.Secret} }

// Issue returns a key like "8KX2M-0ZQ4T-…" for each unit. It fails on a bad number of units (ErrUnits) and when the
// source of randomness does.
func (l License) Issue(bought order.Entitlement) ([]access.Issued, error) {
	if bought.Units < 1 || bought.Units > MaxUnits {
		return nil, fmt.Errorf("%w: %d, at most %d", ErrUnits, bought.Units, MaxUnits)
	}
	issued := make([]access.Issued, 0, bought.Units)
	for unit := range bought.Units {
		key, err := l.key()
		if err != nil {
			return nil, fmt.Errorf("draw a licence key: %w", err)
		}
		issued = append(issued, access.Issued{Unit: unit + 1, Secret: key})
	}
	return issued, nil
}

func (l License) key() (string, error) {
	var raw [groups * groupLength]byte
	if _, err := io.ReadFull(l.random, raw[:]); err != nil {
		return "", err
	}
	key := make([]byte, 0, len(raw)+groups-1)
	for i, b := range raw {
		if i > 0 && i%groupLength == 0 {
			key = append(key, '-')
		}
		key = append(key, alphabet[b%32]) // 32 divides 256, so every letter is equally likely
	}
	return string(key), nil
}
