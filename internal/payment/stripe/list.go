package stripe

import (
	"errors"
	"net/http"

	sdk "github.com/stripe/stripe-go/v85"

	"handover/internal/payment"
	"handover/internal/providerhttp"
)

const (
	// pageSize is the most that Stripe returns at once (https://docs.stripe.com/api/pagination).
	pageSize = 100
	// maxItems is ten times what a payment session can hold (https://docs.stripe.com/api/checkout/sessions/create), so
	// that an answer that goes on for ever ends. No payment has as many refunds either.
	maxItems = 1000
)

// account is one account whose objects are read: a connected one (https://docs.stripe.com/connect/authentication), or
// the key's own where the id is empty.
type account struct {
	client *sdk.Client
	id     string
}

// header is the parameter that every call takes.
func (a account) header() *string {
	if a.id == "" {
		return nil
	}
	return &a.id
}

// paged asks for one page of a list. The pages are counted here and not by the SDK, so that they are bounded.
func (a account) paged(after string) sdk.ListParams {
	p := sdk.ListParams{Single: true, Limit: sdk.Int64(pageSize), StripeAccount: a.header()}
	if after != "" {
		p.StartingAfter = &after
	}
	return p
}

// onAccount reads from the connected account and, where that does not know the object, from the key's own.
func onAccount[T any](p *Provider, read func(account) (T, error)) (T, error) {
	found, err := read(account{p.client, p.account})
	if p.account != "" && isMissing(err) {
		return read(account{client: p.client})
	}
	return found, err
}

// isMissing says that Stripe knows no such object: 404 when it was asked for, 400 when it stood in a filter
// (https://docs.stripe.com/error-codes#resource-missing).
func isMissing(err error) bool {
	var e *payment.APIError
	return errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Code == codeMissing)
}

// listing reads one kind of list to its end.
type listing[T any] struct {
	id   func(*T) string
	page func(after string) *sdk.V1List[*T]
}

// rest returns the first elements, which were there already, and with more those of all pages after them.
func (l listing[T]) rest(answer *providerhttp.Answer, first []*T, more bool) ([]*T, error) {
	seen := map[string]bool{}
	list := l.unseen(first, seen)
	for more {
		after := ""
		if len(list) > 0 {
			after = l.id(list[len(list)-1])
		}
		page := l.page(after)
		if err := apiError(answer, page.Err()); err != nil {
			return nil, err
		}
		fresh := l.unseen(page.Data(), seen)
		list, more = append(list, fresh...), page.Meta().HasMore
		if more && (len(fresh) == 0 || len(list) > maxItems) {
			return nil, &payment.APIError{Status: answer.Status, Code: codeEndlessList}
		}
	}
	return list, nil
}

// unseen drops what an earlier page has already brought.
func (l listing[T]) unseen(page []*T, seen map[string]bool) []*T {
	var list []*T
	for _, element := range page {
		if element == nil || seen[l.id(element)] {
			continue
		}
		seen[l.id(element)] = l.id(element) != ""
		list = append(list, element)
	}
	return list
}
