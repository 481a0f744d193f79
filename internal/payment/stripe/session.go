package stripe

import (
	"context"
	"errors"
	"net/http"

	sdk "github.com/stripe/stripe-go/v85"

	"handover/internal/payment"
	"handover/internal/wire"
)

const (
	// pageSize is the most line items Stripe returns at once.
	pageSize = 100
	// maxItems is ten times what a payment session can hold (https://docs.stripe.com/api/checkout/sessions/create), so
	// that an answer that goes on for ever ends.
	maxItems = 1000

	codeWrongSession = "wrong_session"    // the answer is about another session than the one asked for
	codeEndlessItems = "endless_items"    // the list of line items does not end
	codeMissing      = "resource_missing" // Stripe knows no such session
)

// Session retrieves a Checkout session with all its line items
// (https://docs.stripe.com/api/checkout/sessions/retrieve). It is a read: safe to repeat. Its errors are
// *payment.APIError.
func (p *Provider) Session(ctx context.Context, id string) (payment.Facts, error) {
	if !p.ValidSession(id) {
		// Stripe would answer just this, and a strange id must not become part of a path.
		return payment.Facts{}, &payment.APIError{Status: http.StatusNotFound, Code: codeMissing}
	}
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	found, err := p.session(ctx, id, p.account)
	var missing *payment.APIError
	if p.account != "" && errors.As(err, &missing) && missing.Status == http.StatusNotFound {
		return p.session(ctx, id, "") // not the connected account's: then it is the key's own
	}
	return found, err
}

// session retrieves a session that belongs to the account (https://docs.stripe.com/connect/authentication), or to the
// key's own where that is empty.
func (p *Provider) session(ctx context.Context, id, account string) (payment.Facts, error) {
	ctx, answer := wire.Watch(ctx)
	params := &sdk.CheckoutSessionRetrieveParams{}
	if account != "" {
		params.SetStripeAccount(account)
	}
	params.AddExpand("line_items")
	params.AddExpand("payment_intent.latest_charge")
	cs, err := p.client.V1CheckoutSessions.Retrieve(ctx, id, params)
	if err = apiError(answer, err); err != nil {
		return payment.Facts{}, err
	}
	if cs.ID != id {
		return payment.Facts{}, &payment.APIError{Status: answer.Status, Code: codeWrongSession}
	}
	lines, err := p.lineItems(ctx, cs, account, answer)
	if err != nil {
		return payment.Facts{}, err
	}
	return facts(cs, lines), nil
}

// lineItems returns the embedded first page and, where there are more, the pages after it. A retrieved session holds ten
// at most (https://docs.stripe.com/checkout/fulfillment).
func (p *Provider) lineItems(ctx context.Context, cs *sdk.CheckoutSession, account string, answer *wire.Answer) ([]*sdk.LineItem, error) {
	seen := map[string]bool{}
	var lines []*sdk.LineItem
	more := cs.Mode == sdk.CheckoutSessionModePayment // nothing embedded: ask for the list itself
	if cs.LineItems != nil {
		lines, more = unseen(cs.LineItems.Data, seen), cs.LineItems.HasMore
	}
	for more {
		params := &sdk.CheckoutSessionListLineItemsParams{Session: &cs.ID}
		params.Single, params.Limit = true, sdk.Int64(pageSize)
		if account != "" {
			params.SetStripeAccount(account)
		}
		if len(lines) > 0 {
			params.StartingAfter = &lines[len(lines)-1].ID
		}
		page := p.client.V1CheckoutSessions.ListLineItems(ctx, params)
		if err := apiError(answer, page.Err()); err != nil {
			return nil, err
		}
		fresh := unseen(page.Data(), seen)
		lines, more = append(lines, fresh...), page.Meta().HasMore
		if more && (len(fresh) == 0 || len(lines) > maxItems) {
			return nil, &payment.APIError{Status: answer.Status, Code: codeEndlessItems}
		}
	}
	return lines, nil
}

// unseen drops what an earlier page has already brought.
func unseen(page []*sdk.LineItem, seen map[string]bool) []*sdk.LineItem {
	var list []*sdk.LineItem
	for _, l := range page {
		if l == nil || seen[l.ID] {
			continue
		}
		seen[l.ID] = l.ID != ""
		list = append(list, l)
	}
	return list
}

// apiError turns what came back into the one kind of error that Session returns. The status is taken from the wire,
// because the SDK forgets it when the body is not JSON, and takes a redirect for a success. A success that could not be
// read is no answer: asking again is safe.
func apiError(answer *wire.Answer, err error) error {
	if answer.Status >= http.StatusMultipleChoices {
		e := &payment.APIError{Status: answer.Status, RetryAfter: answer.RetryAfter}
		var said *sdk.Error
		if errors.As(err, &said) && knownCodes[said.Code] {
			e.Code = string(said.Code)
		}
		return e
	}
	if err != nil {
		return &payment.APIError{}
	}
	return nil
}

// knownCodes are the documented codes that a read can meet (https://docs.stripe.com/error-codes). Any other is left out:
// what a provider writes must not reach a log unchecked.
var knownCodes = map[sdk.ErrorCode]bool{
	sdk.ErrorCodeResourceMissing:       true,
	sdk.ErrorCodeRateLimit:             true,
	sdk.ErrorCodeLockTimeout:           true,
	sdk.ErrorCodeAPIKeyExpired:         true,
	sdk.ErrorCodePlatformAPIKeyExpired: true,
	sdk.ErrorCodeSecretKeyRequired:     true,
	sdk.ErrorCodeAccountInvalid:        true,
	sdk.ErrorCodeAccountClosed:         true,
	sdk.ErrorCodeLivemodeMismatch:      true,
	sdk.ErrorCodeTestmodeChargesOnly:   true,
	sdk.ErrorCodeParameterUnknown:      true,
	sdk.ErrorCodeParameterMissing:      true,
	sdk.ErrorCodeParameterInvalidEmpty: true,
	sdk.ErrorCodeURLInvalid:            true,
	sdk.ErrorCodeTLSVersionUnsupported: true,
}
