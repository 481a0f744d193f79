// Package download gives the right to fetch one file from the shop's bucket.
package download

import (
	"io/fs"
	"strings"
	"unicode"

	"handover/internal/access"
	"handover/internal/order"
	"handover/internal/setting"
)

// Kind is the word for it in the catalogue.
const Kind order.AccessKind = "download"

// Download is the kind. The right is the row in the ledger: each fetch finds the file and checks the right.
type Download struct{}

// New returns the kind.
func New() Download { return Download{} }

// Kind is the word for it in the catalogue.
func (Download) Kind() order.AccessKind { return Kind }

// Validate checks that an entry names a file within the bucket.
func (Download) Validate(spec order.AccessSpec) []setting.Problem {
	switch {
	case spec.File == "":
		return []setting.Problem{{Name: "file", Missing: true, Text: "write the name of the file in the bucket"}}
	case !validFile(spec.File):
		return []setting.Problem{{Name: "file", Text: `must be a file's name within the bucket, like guides/field-guide.pdf: no leading /, no "..", no backslash`}}
	}
	return nil
}

func validFile(name string) bool {
	return fs.ValidPath(name) && name != "." && !strings.Contains(name, `\`) && !strings.ContainsFunc(name, unicode.IsControl)
}

// Files lists the one file.
func (Download) Files(spec order.AccessSpec) []string { return []string{spec.File} }

// Present hands out the file.
func (Download) Present(grant order.Grant) access.Goods { return access.Goods{File: grant.File} }

// Issue returns one grant however many units were bought.
func (Download) Issue(order.Entitlement) ([]access.Issued, error) {
	return []access.Issued{{Unit: 1}}, nil
}
