package stripe

import (
	"context"
	"fmt"
	"strings"
	"sync"

	sdk "github.com/stripe/stripe-go/v85"
	"golang.org/x/sync/errgroup"

	"handover/internal/finding"
	"handover/internal/payment"
	"handover/internal/providerhttp"
)

// atOnce is how many ids are asked for at a time: far below the 25 reads a second that test mode allows
// (https://docs.stripe.com/rate-limits).
const atOnce = 6

// inspectSold asks for every id that looks like a price's or a product's. A product may have an id of the shop's own
// making; such a one is not asked for.
func (p *Provider) inspectSold(ctx context.Context, refs []string) (map[string]payment.Listing, []finding.Finding) {
	listed := map[string]payment.Listing{}
	unread := map[string]bool{} // permissions that the key lacks
	var unasked int
	var mu sync.Mutex
	group := errgroup.Group{}
	group.SetLimit(atOnce)
	for _, ref := range refs {
		look, permission := p.lister(ref)
		if look == nil {
			continue
		}
		group.Go(func() error {
			found, err := onAccount(p, func(a account) (payment.Listing, error) { return look(ctx, a, ref) })
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				listed[ref] = found
			case isMissing(err):
				listed[ref] = payment.ListedNowhere
			case isForbidden(err):
				unread[permission] = true
			default:
				unasked++
			}
			return nil
		})
	}
	_ = group.Wait() // none of them fails
	var found []finding.Finding
	for _, permission := range []string{prices, products} {
		if unread[permission] {
			found = append(found, forbidden(permission, "whether the catalogue's ids exist cannot be seen", finding.Warning))
		}
	}
	if unasked > 0 {
		found = append(found, finding.Warn(payment.FindingCatalogue, fmt.Sprintf("%d ids of the catalogue could not be asked for", unasked), "Run starter check again."))
	}
	return listed, found
}

// The permissions of a restricted key.
const (
	prices   = "Prices"
	products = "Products"
)

// lister is how to look an id up, and the permission for it; nil for an id that is not Stripe's.
func (p *Provider) lister(ref string) (func(context.Context, account, string) (payment.Listing, error), string) {
	switch {
	case providerhttp.CleanID(ref) == "":
		return nil, ""
	case strings.HasPrefix(ref, "price_"):
		return listedPrice, prices
	case strings.HasPrefix(ref, "prod_"):
		return listedProduct, products
	}
	return nil, ""
}

// listedPrice is https://docs.stripe.com/api/prices/retrieve. A price of an archived product cannot be bought either.
func listedPrice(ctx context.Context, a account, id string) (payment.Listing, error) {
	price, err := a.price(ctx, id, true)
	if isForbidden(err) { // it may be the product that the key may not read
		price, err = a.price(ctx, id, false)
	}
	if err != nil {
		return "", err
	}
	expanded := price.Product != nil && price.Product.Object != ""
	switch {
	case !price.Active || expanded && !price.Product.Active:
		return payment.ListedArchived, nil
	case price.Type == sdk.PriceTypeRecurring:
		return payment.ListedSubscription, nil
	}
	return payment.ListedActive, nil
}

func (a account) price(ctx context.Context, id string, withProduct bool) (*sdk.Price, error) {
	ctx, answer := providerhttp.Watch(ctx)
	params := &sdk.PriceRetrieveParams{}
	params.StripeAccount = a.header()
	if withProduct {
		params.AddExpand("product")
	}
	price, err := a.client.V1Prices.Retrieve(ctx, id, params)
	return price, about(answer, err, id, price.ID)
}

// listedProduct is https://docs.stripe.com/api/products/retrieve.
func listedProduct(ctx context.Context, a account, id string) (payment.Listing, error) {
	ctx, answer := providerhttp.Watch(ctx)
	params := &sdk.ProductRetrieveParams{}
	params.StripeAccount = a.header()
	product, err := a.client.V1Products.Retrieve(ctx, id, params)
	switch err = about(answer, err, id, product.ID); {
	case err != nil:
		return "", err
	case !product.Active:
		return payment.ListedArchived, nil
	}
	return payment.ListedActive, nil
}
