package check

import (
	"fmt"
	"slices"
	"strings"

	"handover/internal/config"
	"handover/internal/finding"
	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/text"
)

const nameCatalogue = payment.FindingCatalogue

// listings are what the accounts have of the catalogue's ids.
type listings struct {
	environments []config.Environment
	sold         []map[string]payment.Listing // by environment, in the same order
	live         bool                         // there is a live environment, and the others are for trying out
}

// catalogue compares the catalogue with the accounts. An id belongs to one account in one mode, so that one account does
// not know it means nothing; that none does is a mistake.
func (s Shop) catalogue(environments []config.Environment, inspections []payment.Inspection) []Check {
	st := listings{environments: environments, live: s.live()}
	for _, i := range inspections {
		st.sold = append(st.sold, i.Sold)
	}
	var list []Check
	for _, p := range s.Config.Products {
		list = append(list, st.product(p)...)
	}
	known := 0
	for _, ref := range s.refs() {
		if st.anywhere(ref, payment.ListedActive) {
			known++
		}
	}
	if len(list) == 0 && known > 0 {
		list = append(list, good(nameCatalogue, fmt.Sprintf("%s of %s can be bought", text.Count(known, "price or product id"), text.Count(len(s.Config.Products), "product"))))
	}
	return list
}

func (st listings) product(p order.Product) []Check {
	list := st.unknown(p)
	covered, doubt := false, false
	for i, e := range st.environments {
		if st.sold[i] == nil {
			doubt = doubt || st.counts(e)
			continue
		}
		list = append(list, st.unsaleable(p, i)...)
		for _, ref := range p.SoldAs {
			listing, asked := st.sold[i][ref]
			covered = covered || st.counts(e) && asked && listing != payment.ListedNowhere
			doubt = doubt || st.counts(e) && !asked
		}
	}
	if st.live && !covered && !doubt && len(st.unknown(p)) == 0 {
		list = append(list, fail(nameCatalogue, fmt.Sprintf("product %s: none of its ids is known to a live account: its sales there are ignored", p.ID),
			"Add the id of its live price to sold_as, then restart starter and worker."))
	}
	return list
}

// counts says whether sales are made in the environment.
func (st listings) counts(e config.Environment) bool { return !st.live || e.Mode == order.Live }

// unknown are the ids that no account has, of which every account was asked.
func (st listings) unknown(p order.Product) (list []Check) {
	for _, ref := range p.SoldAs {
		nowhere := true
		for _, sold := range st.sold {
			nowhere = nowhere && sold[ref] == payment.ListedNowhere
		}
		if nowhere && len(st.sold) > 0 {
			list = append(list, fail(nameCatalogue, fmt.Sprintf("product %s: no account has %s", p.ID, ref),
				"Correct the id in sold_as, or take it out. What was sold under another id is ignored until then; afterwards: starter replay --ignored"))
		}
	}
	return list
}

// unsaleable are the ids that an account has and that nobody can buy, or that are not delivered. Beside another price that
// can be bought they are left over from before.
func (st listings) unsaleable(p order.Product, i int) (list []Check) {
	e, sold := st.environments[i], st.sold[i]
	replaced := slices.ContainsFunc(p.SoldAs, func(ref string) bool {
		return sold[ref] == payment.ListedActive && strings.HasPrefix(ref, "price_")
	})
	for _, ref := range p.SoldAs {
		f := finding.Finding{Name: nameCatalogue, State: finding.Failure}
		switch sold[ref] {
		case payment.ListedArchived:
			f.Says = fmt.Sprintf("product %s: %s is archived: nobody can buy it", p.ID, ref)
			f.Next = "Activate it again at the provider, or add the price that has taken its place to sold_as."
		case payment.ListedSubscription:
			f.Says = fmt.Sprintf("product %s: %s is a subscription's price: nothing is delivered for it", p.ID, ref)
			f.Next = "Sell it by a one-time price, and put that into sold_as."
		default:
			continue
		}
		if !st.counts(e) || replaced {
			f.State = finding.Warning
		}
		list = append(list, checksOf(e.Name, f)...)
	}
	return list
}

func (st listings) anywhere(ref string, listing payment.Listing) bool {
	return slices.ContainsFunc(st.sold, func(sold map[string]payment.Listing) bool { return sold[ref] == listing })
}
