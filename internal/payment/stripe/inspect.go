package stripe

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	sdk "github.com/stripe/stripe-go/v85"

	"handover/internal/finding"
	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/providerhttp"
)

var _ payment.Inspector = (*Provider)(nil)

const stripeName = "Stripe"

// Inspect checks the account with reads that the key needs anyway, where there are such: a restricted key may not read
// the account itself (https://docs.stripe.com/keys#limit-access). Where the key is no good nothing else is asked, since
// every answer would be the same.
func (p *Provider) Inspect(ctx context.Context, w payment.Requirements) payment.Inspection {
	key, usable := p.inspectKey(ctx)
	if !usable {
		return payment.Inspection{Findings: key}
	}
	var permissions, endpoints, sold []finding.Finding
	var listed map[string]payment.Listing
	var asking sync.WaitGroup
	asking.Go(func() { permissions = p.inspectPermissions(ctx) })
	asking.Go(func() { endpoints = p.inspectEndpoints(ctx, w.WebhookURL) })
	asking.Go(func() { listed, sold = p.inspectSold(ctx, w.Refs) })
	asking.Wait()
	return payment.Inspection{Findings: slices.Concat(key, permissions, endpoints, sold), Sold: listed}
}

// own is the account whose sessions are read.
func (p *Provider) own() account { return account{p.client, p.account} }

// inspectKey reads one session, whose mode is the key's.
func (p *Provider) inspectKey(ctx context.Context) (found []finding.Finding, usable bool) {
	ctx, answer := providerhttp.Watch(ctx)
	list := p.client.V1CheckoutSessions.List(ctx, &sdk.CheckoutSessionListParams{ListParams: p.own().one()})
	err := apiError(answer, list.Err())
	if p.account != "" && isNoAccount(err) {
		return []finding.Finding{finding.Fail(payment.FindingKey, "Stripe does not let this key into the connected account",
			"Correct account, or use the key of the platform that the account is connected to.")}, false
	}
	if isForbidden(err) {
		return []finding.Finding{forbidden("Checkout Sessions", "a payment cannot be confirmed", finding.Failure)}, true
	}
	if f := payment.KeyFinding(stripeName, err); f != nil {
		return []finding.Finding{*f}, f.State == finding.Warning
	}
	for _, cs := range list.Data() {
		if cs.Livemode != (p.mode == order.Live) {
			return []finding.Finding{finding.Fail(payment.FindingKey, "Stripe takes the key, and it is of the other mode",
				"Correct mode or api_key: the environment's mode is "+string(p.mode)+".")}, true
		}
	}
	return []finding.Finding{finding.Good(payment.FindingKey, "Stripe takes the key, in "+string(p.mode)+" mode")}, true
}

// one asks for a single element of a list.
func (a account) one() sdk.ListParams {
	p := a.paged("")
	p.Limit = sdk.Int64(1)
	return p
}

// inspectPermissions tries the other reads of a delivery and of a refund. Only a refusal says anything: it names a
// permission of a restricted key (https://docs.stripe.com/keys#limit-access).
func (p *Provider) inspectPermissions(ctx context.Context) []finding.Finding {
	const unconfirmed, unseen = "a payment cannot be confirmed", "a refund or dispute does not end the access"
	a := p.own()
	return concurrently([]func() *finding.Finding{
		func() *finding.Finding {
			ctx, answer := providerhttp.Watch(ctx)
			list := a.client.V1PaymentIntents.List(ctx, &sdk.PaymentIntentListParams{ListParams: a.one()})
			return refused(answer, list.Err(), "PaymentIntents", unconfirmed, finding.Failure)
		},
		func() *finding.Finding {
			ctx, answer := providerhttp.Watch(ctx)
			list := a.client.V1Charges.List(ctx, &sdk.ChargeListParams{ListParams: a.one()})
			return refused(answer, list.Err(), "Charges and Refunds", unconfirmed, finding.Failure)
		},
		func() *finding.Finding {
			ctx, answer := providerhttp.Watch(ctx)
			list := a.client.V1Disputes.List(ctx, &sdk.DisputeListParams{ListParams: a.one()})
			return refused(answer, list.Err(), "Disputes", unseen, finding.Warning)
		},
	})
}

// concurrently calls all and keeps what was found in their order.
func concurrently(looks []func() *finding.Finding) (found []finding.Finding) {
	results := make([]*finding.Finding, len(looks))
	var looking sync.WaitGroup
	for i, look := range looks {
		looking.Go(func() { results[i] = look() })
	}
	looking.Wait()
	for _, f := range results {
		if f != nil {
			found = append(found, *f)
		}
	}
	return found
}

func refused(answer *providerhttp.Answer, err error, permission, without string, state finding.State) *finding.Finding {
	if !isForbidden(apiError(answer, err)) {
		return nil
	}
	f := forbidden(permission, without, state)
	return &f
}

func forbidden(permission, without string, state finding.State) finding.Finding {
	return finding.Finding{
		Name: payment.FindingPermission, State: state, Says: "the key may not read " + permission + ": " + without,
		Next: "Give the restricted key the permission to read " + permission + " (Stripe's dashboard, Developers, API keys).",
	}
}

func isForbidden(err error) bool {
	var e *payment.APIError
	return errors.As(err, &e) && e.Status == http.StatusForbidden
}

// isNoAccount is https://docs.stripe.com/error-codes#account-invalid.
func isNoAccount(err error) bool {
	var e *payment.APIError
	return isMissing(err) || errors.As(err, &e) && e.Code == string(sdk.ErrorCodeAccountInvalid)
}
