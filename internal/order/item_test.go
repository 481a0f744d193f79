package order_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/order"
)

func shopOf(access ...order.AccessSpec) *order.Catalogue {
	return order.NewCatalogue([]order.Product{{ID: "guide", SoldAs: []string{"price_guide"}, Access: access}})
}

// A download keeps its identity when its file gets another name, by its id or by its place. A file that is still there is
// never taken for another.
func TestRenamedFileIsTheOneThatIsGiven(t *testing.T) {
	t.Parallel()
	file := func(id, name string) order.AccessSpec { return order.AccessSpec{ID: id, Kind: "download", File: name} }
	granted := func(item, name string) order.Grant {
		return order.Grant{Product: "guide", Kind: "download", Item: item, File: name, Unit: 1}
	}
	for name, c := range map[string]struct {
		catalogue *order.Catalogue
		grants    []order.Grant
		want      []string
	}{
		"not renamed":            {shopOf(file("", "v1.pdf")), []order.Grant{granted("1", "v1.pdf")}, []string{"v1.pdf"}},
		"by its place":           {shopOf(file("", "v2.pdf")), []order.Grant{granted("1", "v1.pdf")}, []string{"v2.pdf"}},
		"by its id":              {shopOf(file("", "map.pdf"), file("pdf", "v2.pdf")), []order.Grant{granted("pdf", "v1.pdf")}, []string{"v2.pdf"}},
		"reordered":              {shopOf(file("", "b.pdf"), file("", "a.pdf")), []order.Grant{granted("1", "a.pdf"), granted("2", "b.pdf")}, []string{"a.pdf", "b.pdf"}},
		"reordered, one is gone": {shopOf(file("", "b.pdf")), []order.Grant{granted("1", "a.pdf"), granted("2", "b.pdf")}, []string{"a.pdf", "b.pdf"}},
		"of no known place":      {shopOf(file("", "v2.pdf")), []order.Grant{granted("", "v1.pdf")}, []string{"v1.pdf"}},
		"the product is gone":    {order.NewCatalogue(nil), []order.Grant{granted("1", "v1.pdf")}, []string{"v1.pdf"}},
		"a licence in its place": {shopOf(order.AccessSpec{Kind: "license"}), []order.Grant{granted("1", "v1.pdf")}, []string{"v1.pdf"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, g := range c.catalogue.Today(c.grants) {
				got = append(got, g.File)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatTheCatalogueGivesTodayAndDidNotThen(t *testing.T) {
	t.Parallel()
	items := []order.Item{{Line: 1, Refs: []string{"price_guide"}, Quantity: 2}}
	license, pdf := order.AccessSpec{Kind: "license"}, order.AccessSpec{ID: "pdf", Kind: "download", File: "v2.pdf"}
	for name, c := range map[string]struct {
		catalogue *order.Catalogue
		given     []order.Entitlement
		missing   int
	}{
		"all of it":       {shopOf(license, pdf), []order.Entitlement{{Product: "guide", Kind: "license", Item: "1"}, {Product: "guide", Kind: "download", Item: "pdf", File: "v1.pdf"}}, 0},
		"the download":    {shopOf(license, pdf), []order.Entitlement{{Product: "guide", Kind: "license", Item: "1"}}, 1},
		"before items":    {shopOf(license, pdf), []order.Entitlement{{Product: "guide", Kind: "license"}, {Product: "guide", Kind: "download", File: "v2.pdf"}}, 0},
		"more than today": {shopOf(license), []order.Entitlement{{Product: "guide", Kind: "license"}, {Product: "guide", Kind: "download", File: "v2.pdf"}}, 0},
		"nothing":         {shopOf(license, pdf), nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			missing := c.catalogue.Missing(items, c.given)
			if len(missing) != c.missing {
				t.Errorf("missing %+v", missing)
			}
			for _, e := range missing {
				if e.Units != 2 || e.Item == "" {
					t.Errorf("missing %+v", e)
				}
			}
		})
	}
}
