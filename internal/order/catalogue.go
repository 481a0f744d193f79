package order

// AccessKind names a way of giving access: one of the kinds registered in the access package.
type AccessKind string

// AccessSpec is one thing that a product gives.
type AccessSpec struct {
	ID   string // its name within the product; empty for its place
	Kind AccessKind
	File string // the blob's name, for downloads
}

// Product is one entry of the shop's catalogue.
type Product struct {
	ID     string
	Name   string
	SoldAs []string     // the providers' price and product ids, of any environment
	Access []AccessSpec // empty for what is sold here and delivered by somebody else, like a shirt or a donation

	Refund  string // what a refund does to the access: RefundFull, RefundItem or RefundKeep
	Dispute string // what a dispute does to it: DisputeHold or DisputeKeep
}

// Item is one line of a checkout session as the provider proves it.
type Item struct {
	Line     int      // position, from 1
	Refs     []string // the provider's ids that may stand in a catalogue: the price's, then the product's
	Name     string   // the provider's description
	Quantity int64
	Amount   int64  // what the buyer paid for the whole line, in minor units; 0 when the provider does not say
	Product  string // our product's id, empty when none is sold as any of Refs
}

// Catalogue finds products by what they are sold as.
type Catalogue struct {
	products []Product
	byRef    map[string]int
	byID     map[string]int
}

// NewCatalogue indexes the products. Duplicate ids and references are the configuration's business to refuse; the first
// one wins here.
func NewCatalogue(products []Product) *Catalogue {
	c := &Catalogue{products: products, byRef: map[string]int{}, byID: map[string]int{}}
	for i, p := range products {
		if _, taken := c.byID[p.ID]; !taken {
			c.byID[p.ID] = i
		}
		for _, ref := range p.SoldAs {
			if _, taken := c.byRef[ref]; !taken {
				c.byRef[ref] = i
			}
		}
	}
	return c
}

// Product returns the product with the id.
func (c *Catalogue) Product(id string) (Product, bool) {
	i, found := c.byID[id]
	if !found {
		return Product{}, false
	}
	return c.products[i], true
}

// Products returns all products in the order of the configuration.
func (c *Catalogue) Products() []Product { return c.products }

// Match fills Item.Product where one of the item's references is in the catalogue, and counts the items that are ours to
// deliver and those that are unknown. An item of quantity zero or less is nobody's.
func (c *Catalogue) Match(items []Item) (matched []Item, ours, unknown int) {
	matched = make([]Item, len(items))
	for i, item := range items {
		item.Product = ""
		if item.Quantity > 0 {
			for _, ref := range item.Refs {
				if p, found := c.byRef[ref]; found && ref != "" {
					item.Product = c.products[p].ID
					break
				}
			}
		}
		if p, _ := c.Product(item.Product); item.Product == "" {
			unknown++
		} else if len(p.Access) > 0 {
			ours++
		}
		matched[i] = item
	}
	return matched, ours, unknown
}

// Entitlement is one piece of access that an order gives.
type Entitlement struct {
	Product string
	Kind    AccessKind
	File    string
	Item    string // which access of its product it is: AccessSpec.Item
	Units   int64  // how many units of the product were bought, over all lines
}

// Subject identifies the piece of access within its order. It names what is given and not positions, so that
// reordering the catalogue between two runs does not make a second obligation.
func (e Entitlement) Subject() string {
	if e.File == "" {
		return e.Product + "/" + string(e.Kind)
	}
	return e.Product + "/" + string(e.Kind) + "/" + e.File
}

// Entitlements lists what the matched items give: each access of each product once, with the units of all its lines
// added up.
func (c *Catalogue) Entitlements(items []Item) []Entitlement {
	units := map[string]int64{}
	var sequence []string
	for _, item := range items {
		if item.Product == "" {
			continue
		}
		if _, seen := units[item.Product]; !seen {
			sequence = append(sequence, item.Product)
		}
		units[item.Product] += item.Quantity
	}
	var entitlements []Entitlement
	for _, id := range sequence {
		p, _ := c.Product(id)
		for place, a := range p.Access {
			entitlements = append(entitlements, Entitlement{Product: id, Kind: a.Kind, File: a.File, Item: a.Item(place), Units: units[id]})
		}
	}
	return entitlements
}
