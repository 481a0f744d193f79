// Package registry is the list of the kinds of access in this binary. A new kind is a line here.
package registry

import (
	"crypto/rand"

	"handover/internal/access"
	"handover/internal/access/download"
	"handover/internal/access/license"
)

// Own lists the kinds that are wholly Handover's.
func Local() []access.Local {
	return []access.Local{
		download.New(),
		license.New(rand.Reader),
	}
}

// Names lists the words of all kinds, as the catalogue uses them.
func Names() []string {
	var names []string
	for _, kind := range Local() {
		names = append(names, string(kind.Kind()))
	}
	return names
}
