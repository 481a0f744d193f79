package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"handover/internal/order"
)

var productID = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

func (r *reader) products(root *table) []order.Product {
	var products []order.Product
	ids, refs := map[string]int{}, map[string]int{}
	for _, t := range root.tables("products") {
		p := r.product(t)
		if line, taken := ids[p.ID]; taken && p.ID != "" {
			r.p.add(t.at("id"), "%s is taken by the product in line %d; ids are unique", r.p.shown(t.at("id"), p.ID), line)
		} else {
			ids[p.ID] = r.p.lineOf(t.path)
		}
		for i, ref := range p.SoldAs {
			at := element(t.at("sold_as"), i)
			if line, taken := refs[ref]; taken && ref != "" {
				r.p.add(at, "%s is already sold as the product in line %d; each of the provider's ids means one product", r.p.shown(at, ref), line)
				continue
			}
			refs[ref] = r.p.lineOf(t.path)
		}
		products = append(products, p)
	}
	return products
}

func (r *reader) product(t *table) order.Product {
	p := order.Product{Refund: order.RefundFull, Dispute: order.DisputeHold}
	t.text("id", &p.ID)
	t.text("name", &p.Name)
	p.SoldAs = t.texts("sold_as")
	access := t.tables("access")
	t.text("refund", &p.Refund)
	t.text("dispute", &p.Dispute)
	t.done()

	switch {
	case p.ID == "":
		r.p.empty(t.at("id"), "write a short id like field-guide; it must never change")
	case !productID.MatchString(p.ID):
		r.p.add(t.at("id"), "must be 1 to 64 lower-case letters, digits and dashes")
	}
	if p.Name = strings.TrimSpace(p.Name); p.Name == "" {
		r.p.empty(t.at("name"), "write the name that buyers read")
	} else if strings.ContainsFunc(p.Name, unicode.IsControl) {
		r.p.add(t.at("name"), "has a line end or another control character; write it on one line")
	}
	if len(p.SoldAs) == 0 {
		r.p.empty(t.at("sold_as"), "list the provider's price or product ids that this product is sold as")
	}
	for i, ref := range p.SoldAs {
		if p.SoldAs[i] = strings.TrimSpace(ref); p.SoldAs[i] == "" {
			r.p.empty(element(t.at("sold_as"), i), "write a price or product id, or remove the entry")
		}
	}
	if _, written := t.value("access"); !written {
		r.p.empty(t.at("access"), `list what the buyer gets, like { kind = "download", file = "field-guide.pdf" }; [] says that somebody else delivers it`)
	}
	for _, one := range access {
		p.Access = append(p.Access, r.access(one, p.Access))
	}
	r.oneOf(t.at("refund"), p.Refund, order.RefundPolicies())
	r.oneOf(t.at("dispute"), p.Dispute, order.DisputePolicies())
	return p
}

// itemID is the shape of an access entry's id. A number would be taken for a place.
var itemID = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

// access reads one entry and refuses one that the product has already.
func (r *reader) access(t *table, before []order.AccessSpec) order.AccessSpec {
	var kind string
	var spec order.AccessSpec
	t.text("kind", &kind)
	t.text("file", &spec.File)
	t.text("id", &spec.ID)
	t.done()
	spec.Kind = order.AccessKind(kind)

	r.oneOf(t.at("kind"), kind, r.known.Access.Names())
	if known, found := r.known.Access.Of(spec.Kind); found {
		r.report(t, known.Validate(spec))
	}
	if spec.ID != "" && !itemID.MatchString(spec.ID) {
		r.p.add(t.at("id"), "is not a name; write small letters, digits and dashes, with a letter first, like \"pdf\"")
	}
	if spec.ID != "" && slices.ContainsFunc(before, func(a order.AccessSpec) bool { return a.ID == spec.ID }) {
		r.p.add(t.at("id"), "is the id of another access of this product; write another")
	}
	if kind != "" && slices.ContainsFunc(before, func(a order.AccessSpec) bool { return a.Kind == spec.Kind && a.File == spec.File }) {
		r.p.add(t.path, "is given twice by this product; remove one (units come from the quantity that was bought)")
	}
	return spec
}

// files reads the bucket. The worker and the starter both open it, so what only one process has is refused.
func (r *reader) files(t *table, c *Config) {
	t.text("bucket", &c.FilesBucket)
	t.done()
	const advice = "write where the files are, like file:///var/lib/handover/files, s3://BUCKET, gs://BUCKET or azblob://CONTAINER"
	c.FilesBucket = strings.TrimSpace(c.FilesBucket)
	if c.FilesBucket == "" {
		if r.needsBucket(c.Products) {
			r.p.empty(t.at("bucket"), "a product has a download; "+advice)
		}
		return
	}
	u, err := url.Parse(c.FilesBucket)
	switch {
	case err != nil || !slices.Contains([]string{"file", "s3", "gs", "azblob"}, u.Scheme):
		r.p.add(t.at("bucket"), "is not a bucket that can be opened; %s", advice)
	case u.Scheme == "file" && (u.Host != "" || strings.Trim(u.Path, "/") == ""):
		r.p.add(t.at("bucket"), "must name a folder by its whole path, with three slashes: file:///var/lib/handover/files")
	case u.Scheme != "file" && u.Host == "":
		r.p.add(t.at("bucket"), "does not name a bucket; %s", advice)
	}
}

func (r *reader) needsBucket(products []order.Product) bool {
	for _, p := range products {
		for _, spec := range p.Access {
			if kind, found := r.known.Access.Of(spec.Kind); found && len(kind.Files(spec)) > 0 {
				return true
			}
		}
	}
	return false
}
