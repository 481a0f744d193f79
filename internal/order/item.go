package order

import (
	"slices"
	"strconv"
)

// Item is what an access entry is called within its product: its id, or else its place.
func (a AccessSpec) Item(place int) string {
	if a.ID != "" {
		return a.ID
	}
	return strconv.Itoa(place + 1)
}

// Missing lists what the catalogue gives for items today and was not given for them: nothing of the same product and kind
// has its name or its file.
func (c *Catalogue) Missing(items []Item, given []Entitlement) []Entitlement {
	matched, _, _ := c.Match(items)
	return slices.DeleteFunc(c.Entitlements(matched), func(e Entitlement) bool {
		return slices.ContainsFunc(given, func(g Entitlement) bool {
			return g.Product == e.Product && g.Kind == e.Kind && (g.File == e.File || g.Item != "" && g.Item == e.Item)
		})
	})
}

// Today names the files that grants open now. A download is an entry of its product, and not a file: when that has been
// renamed, as with a new version, the buyer gets the file that stands in its place.
func (c *Catalogue) Today(grants []Grant) []Grant {
	today := slices.Clone(grants)
	for i, g := range today {
		p, found := c.Product(g.Product)
		if !found || g.File == "" || p.gives(g.Kind, g.File) {
			continue
		}
		for place, a := range p.Access {
			taken := slices.ContainsFunc(grants, func(other Grant) bool { return other.Product == g.Product && other.File == a.File })
			if a.Kind == g.Kind && a.File != "" && g.Item == a.Item(place) && !taken {
				today[i].File = a.File
			}
		}
	}
	return today
}

func (p Product) gives(kind AccessKind, file string) bool {
	return slices.ContainsFunc(p.Access, func(a AccessSpec) bool { return a.Kind == kind && a.File == file })
}
