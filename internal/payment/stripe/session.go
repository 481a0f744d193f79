package stripe

import (
	"context"
	"errors"
	"net/http"

	sdk "github.com/stripe/stripe-go/v85"

	"handover/internal/payment"
	"handover/internal/providerhttp"
)

// The codes of faults that are found here, beside Stripe's own.
const (
	codeWrongObject = "wrong_object"     // the answer is about another object than the one asked for
	codeEndlessList = "endless_list"     // the pages of a list do not end
	codeMissing     = "resource_missing" // Stripe's: it knows no such object
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
	return onAccount(p, func(a account) (payment.Facts, error) { return a.session(ctx, id) })
}

func (a account) session(ctx context.Context, id string) (payment.Facts, error) {
	ctx, answer := providerhttp.Watch(ctx)
	params := &sdk.CheckoutSessionRetrieveParams{}
	params.StripeAccount = a.header()
	params.AddExpand("line_items")
	params.AddExpand("payment_intent.latest_charge")
	cs, err := a.client.V1CheckoutSessions.Retrieve(ctx, id, params)
	if err = about(answer, err, id, cs.ID); err != nil {
		return payment.Facts{}, err
	}
	lines, err := a.lineItems(ctx, cs, answer)
	if err != nil {
		return payment.Facts{}, err
	}
	return facts(cs, lines), nil
}

// lineItems returns the embedded first page and, where there are more, the pages after it. A retrieved session holds ten
// at most (https://docs.stripe.com/checkout/fulfillment).
func (a account) lineItems(ctx context.Context, cs *sdk.CheckoutSession, answer *providerhttp.Answer) ([]*sdk.LineItem, error) {
	list := listing[sdk.LineItem]{
		id: func(l *sdk.LineItem) string { return l.ID },
		page: func(after string) *sdk.V1List[*sdk.LineItem] {
			return a.client.V1CheckoutSessions.ListLineItems(ctx,
				&sdk.CheckoutSessionListLineItemsParams{ListParams: a.paged(after), Session: &cs.ID})
		},
	}
	if cs.LineItems == nil { // nothing embedded: ask for the list itself
		return list.rest(answer, nil, cs.Mode == sdk.CheckoutSessionModePayment)
	}
	return list.rest(answer, cs.LineItems.Data, cs.LineItems.HasMore)
}

// about is apiError for an answer that must be about the object that was asked for.
func about(answer *providerhttp.Answer, err error, want, got string) error {
	if err = apiError(answer, err); err == nil && got != want {
		err = &payment.APIError{Status: answer.Status, Code: codeWrongObject}
	}
	return err
}

// apiError turns what came back into the one kind of error that is returned. The status is taken from the wire,
// because the SDK forgets it when the body is not JSON, and takes a redirect for a success. A success that could not be
// read is no answer: asking again is safe.
func apiError(answer *providerhttp.Answer, err error) error {
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
