package stripe

import (
	"context"
	"strings"
	"time"

	sdk "github.com/stripe/stripe-go/v85"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/providerhttp"
)

// disputesCursor begins a cursor into the list of disputes, which comes after that of refunds.
const disputesCursor = "disputes:"

// ReversalsSince lists refunds and then disputes by their creation, newest first (https://docs.stripe.com/api/refunds/list,
// https://docs.stripe.com/api/disputes/list). A platform's own come after the connected account's.
func (p *Provider) ReversalsSince(ctx context.Context, since time.Time, cursor string) ([]order.Reversed, string, error) {
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	a := account{p.client, p.account}
	rest, own := strings.CutPrefix(cursor, ownCursor)
	if own {
		a.id = ""
	}
	after, disputes := strings.CutPrefix(rest, disputesCursor)
	if after != "" && providerhttp.CleanID(after) == "" {
		return nil, "", errMissing()
	}
	read := a.refundsSince
	if disputes {
		read = a.disputesSince
	}
	page, next, err := read(ctx, since, after)
	if err != nil {
		return nil, "", err
	}
	switch {
	case next != "" && disputes, next == "" && !disputes:
		next = disputesCursor + next
	case next == "" && a.id != "":
		return page, ownCursor, nil
	case next == "":
		return page, "", nil
	}
	if own {
		next = ownCursor + next
	}
	return page, next, nil
}

func since(t time.Time) *sdk.RangeQueryParams {
	return &sdk.RangeQueryParams{GreaterThanOrEqual: max(t.Unix(), 0)}
}

func (a account) refundsSince(ctx context.Context, from time.Time, after string) (page []order.Reversed, next string, err error) {
	watched, answer := providerhttp.Watch(ctx)
	list := a.client.V1Refunds.List(watched, &sdk.RefundListParams{ListParams: a.paged(after), CreatedRange: since(from)})
	if err := apiError(answer, list.Err()); err != nil {
		return nil, "", err
	}
	for _, r := range list.Data() {
		of, err := a.reversed(ctx, r.PaymentIntent, r.Charge, r.Created)
		if err != nil {
			return nil, "", err
		}
		page, next = append(page, of), r.ID
	}
	return end(page, next, after, list.Meta().HasMore, answer)
}

func (a account) disputesSince(ctx context.Context, from time.Time, after string) (page []order.Reversed, next string, err error) {
	watched, answer := providerhttp.Watch(ctx)
	list := a.client.V1Disputes.List(watched, &sdk.DisputeListParams{ListParams: a.paged(after), CreatedRange: since(from)})
	if err := apiError(answer, list.Err()); err != nil {
		return nil, "", err
	}
	for _, d := range list.Data() {
		of, err := a.reversed(ctx, d.PaymentIntent, d.Charge, d.Created)
		if err != nil {
			return nil, "", err
		}
		page, next = append(page, of), d.ID
	}
	return end(page, next, after, list.Meta().HasMore, answer)
}

// reversed names the payment of a refund or a dispute. An old charge may know its payment intent where these do not.
func (a account) reversed(ctx context.Context, intent *sdk.PaymentIntent, charge *sdk.Charge, created int64) (order.Reversed, error) {
	r := order.Reversed{At: time.Unix(created, 0).UTC()}
	switch {
	case intent != nil && intent.ID != "":
		r.Ref = intent.ID
	case charge != nil && reference(charge.ID) != "":
		ref, _, err := a.paymentOf(ctx, charge.ID)
		if err != nil && !isMissing(err) {
			return r, err
		}
		r.Ref = ref
	}
	return r, nil
}

// end says after which id the next page begins. A list that goes on without an end is an error.
func end(page []order.Reversed, last, after string, more bool, answer *providerhttp.Answer) ([]order.Reversed, string, error) {
	switch {
	case !more:
		return page, "", nil
	case last == "" || last == after:
		return nil, "", &payment.APIError{Status: answer.Status, Code: codeEndlessList}
	}
	return page, last, nil
}
