package order_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"handover/internal/order"
)

func shop() *order.Catalogue {
	return order.NewCatalogue([]order.Product{
		{ID: "guide", Name: "The Guide", SoldAs: []string{"price_guide", "prod_guide"}, Access: []order.AccessSpec{{Kind: "download", File: "guide.pdf"}, {Kind: "license"}}},
		{ID: "tool", Name: "The Tool", SoldAs: []string{"price_tool"}, Access: []order.AccessSpec{{Kind: "license"}}},
		{ID: "guide", Name: "A second one of the id", SoldAs: []string{"price_second", "price_tool"}},
	})
}

func TestItemsAreMatchedByAnyOfTheirReferences(t *testing.T) {
	t.Parallel()
	items := []order.Item{
		{Line: 1, Refs: []string{"price_guide", "prod_other"}, Quantity: 1},
		{Line: 2, Refs: []string{"price_other", "prod_guide"}, Quantity: 2},
		{Line: 3, Refs: []string{"price_tool"}, Quantity: 1},
		{Line: 4, Refs: []string{"price_other", "prod_other"}, Quantity: 1, Product: "guide"},
		{Line: 5, Refs: []string{"price_guide"}, Quantity: 0},
		{Line: 6, Refs: []string{"price_guide"}, Quantity: -1},
		{Line: 7, Refs: nil, Quantity: 1},
		{Line: 8, Refs: []string{"", "price_GUIDE", "price_guid"}, Quantity: 1},
	}
	matched, ours, others := shop().Match(items)
	var products []string
	for _, item := range matched {
		products = append(products, item.Product)
	}
	want := []string{"guide", "guide", "tool", "", "", "", "", ""}
	if diff := cmp.Diff(want, products); diff != "" || ours != 3 || others != 5 {
		t.Errorf("got %d of ours and %d others; products (-want +got):\n%s", ours, others, diff)
	}
	if items[3].Product != "guide" || items[0].Product != "" {
		t.Error("the caller's items were changed")
	}
}

func TestEmptyReferenceSellsNothing(t *testing.T) {
	t.Parallel()
	c := order.NewCatalogue([]order.Product{{ID: "guide", SoldAs: []string{""}}})
	if _, ours, _ := c.Match([]order.Item{{Line: 1, Refs: []string{""}, Quantity: 1}}); ours != 0 {
		t.Error("an item without a reference was matched by an empty one")
	}
}

func TestFirstOfTwoProductsWithOneIDCounts(t *testing.T) {
	t.Parallel()
	c := shop()
	if p, found := c.Product("guide"); !found || p.Name != "The Guide" {
		t.Errorf("got %q, %v", p.Name, found)
	}
	if _, found := c.Product("nothing"); found {
		t.Error("found a product that there is none of")
	}
	if got := len(c.Products()); got != 3 {
		t.Errorf("got %d products, want all 3 as configured", got)
	}
}

func TestUnitsOfAllLinesOfAProductAddUp(t *testing.T) {
	t.Parallel()
	dues := shop().Entitlements([]order.Item{
		{Line: 1, Product: "tool", Quantity: 1},
		{Line: 2, Product: "guide", Quantity: 2},
		{Line: 3, Product: ""},
		{Line: 4, Product: "tool", Quantity: 3},
	})
	want := []order.Entitlement{
		{Product: "tool", Kind: "license", Item: "1", Units: 4},
		{Product: "guide", Kind: "download", File: "guide.pdf", Item: "1", Units: 2},
		{Product: "guide", Kind: "license", Item: "2", Units: 2},
	}
	if diff := cmp.Diff(want, dues); diff != "" {
		t.Errorf("dues (-want +got):\n%s", diff)
	}
	if got := shop().Entitlements([]order.Item{{Line: 1, Product: "left the catalogue", Quantity: 1}}); len(got) != 0 {
		t.Errorf("something is owed for a product that is not sold: %v", got)
	}
}

func TestSubjectSaysWhatIsOwed(t *testing.T) {
	t.Parallel()
	for want, due := range map[string]order.Entitlement{
		"guide/download/guide.pdf": {Product: "guide", Kind: "download", File: "guide.pdf", Units: 2},
		"guide/license":            {Product: "guide", Kind: "license", Units: 1},
	} {
		if got := due.Subject(); got != want {
			t.Errorf("Subject = %q, want %q: stored obligations have that name", got, want)
		}
	}
}

// TestReorderingMakesNoSecondObligation: what is owed, by name, depends on what was bought and on nothing's position.
func TestReorderingMakesNoSecondObligation(t *testing.T) {
	t.Parallel()
	products := shop().Products()[:2]
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Custom(func(t *rapid.T) order.Item {
			ref := rapid.SampledFrom([]string{"price_guide", "prod_guide", "price_tool", "price_other"}).Draw(t, "ref")
			return order.Item{Refs: []string{ref}, Quantity: rapid.Int64Range(-1, 5).Draw(t, "quantity")}
		})
		items := rapid.SliceOfN(one, 0, 6).Draw(t, "items")
		shuffled := rapid.Permutation(items).Draw(t, "shuffled")
		before := owed(t, order.NewCatalogue(products), items)
		after := owed(t, order.NewCatalogue(rapid.Permutation(products).Draw(t, "catalogue")), shuffled)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Fatalf("what is owed changed (-before +after):\n%s", diff)
		}
	})
}

// owed is the units owed by subject.
func owed(t *rapid.T, c *order.Catalogue, items []order.Item) map[string]int64 {
	matched, ours, others := c.Match(items)
	if ours+others != len(items) || len(matched) != len(items) {
		t.Fatalf("%d of ours and %d others of %d items", ours, others, len(items))
	}
	units := map[string]int64{}
	for _, due := range c.Entitlements(matched) {
		if _, twice := units[due.Subject()]; twice {
			t.Fatalf("%s is owed twice", due.Subject())
		}
		if due.Units < 1 {
			t.Fatalf("%d units of %s are owed", due.Units, due.Subject())
		}
		units[due.Subject()] = due.Units
	}
	return units
}
