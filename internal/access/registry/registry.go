// Package registry is the list of the kinds of access in this binary. A new kind is a line here.
package registry

import (
	"crypto/rand"

	"handover/internal/access"
	"handover/internal/access/download"
	"handover/internal/access/license"
)

// Kinds lists every kind.
func Kinds() access.Kinds {
	return access.Kinds{
		download.New(),
		license.New(rand.Reader),
	}
}
