package stripe

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	sdk "github.com/stripe/stripe-go/v85"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/providerhttp"
)

const (
	// openFor is how long a session can stay open before a buyer finishes it
	// (https://docs.stripe.com/api/checkout/sessions/create#create_checkout_session-expires_at).
	openFor = 24 * time.Hour
	// ownCursor begins a cursor into the list of the key's own sessions, behind that of a connected account.
	ownCursor = "own:"
)

// SessionOf finds the session that a payment belongs to. The reference is a payment intent, or whatever else an event
// had of it: a charge, a refund or a dispute (https://docs.stripe.com/api/checkout/sessions/list).
func (p *Provider) SessionOf(ctx context.Context, ref string) (string, error) {
	if ref = reference(ref); ref == "" {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	session, err := onAccount(p, func(a account) (string, error) { return a.sessionOf(ctx, ref, p.ValidSession) })
	if isMissing(err) {
		return "", nil
	}
	return session, err
}

func (a account) sessionOf(ctx context.Context, ref string, valid func(string) bool) (string, error) {
	intent, _, err := a.paymentOf(ctx, ref)
	if err != nil {
		return "", err
	}
	if intent == "" {
		return "", errMissing()
	}
	ctx, answer := providerhttp.Watch(ctx)
	list := a.client.V1CheckoutSessions.List(ctx, &sdk.CheckoutSessionListParams{ListParams: a.paged(""), PaymentIntent: &intent})
	if err := apiError(answer, list.Err()); err != nil {
		return "", err
	}
	for _, cs := range list.Data() {
		// Checked again, because a wrong session would take away what another buyer paid for.
		if cs.PaymentIntent != nil && cs.PaymentIntent.ID == intent && valid(cs.ID) {
			return cs.ID, nil
		}
	}
	return "", errMissing()
}

// paymentOf finds what a reference is about: a payment intent, or a charge from before there were any.
func (a account) paymentOf(ctx context.Context, ref string) (intent, charge string, err error) {
	var pi *sdk.PaymentIntent
	var ch *sdk.Charge
	switch prefix, _, _ := strings.Cut(ref, "_"); prefix {
	case "ch", "py":
		if ch, err = a.charge(ctx, ref); err == nil {
			pi = ch.PaymentIntent
		}
	case "re", "pyr":
		pi, ch, err = a.refund(ctx, ref)
	case "du", "dp":
		pi, ch, err = a.dispute(ctx, ref)
	default:
		return ref, "", nil
	}
	switch {
	case err != nil:
		return "", "", err
	case pi != nil && pi.ID != "":
		return pi.ID, "", nil
	case ch == nil || reference(ch.ID) == "":
		return "", "", errMissing()
	case ch.ID != ref:
		return a.paymentOf(ctx, ch.ID) // the refund's or dispute's charge may know its payment intent
	}
	return "", ch.ID, nil
}

// charge is https://docs.stripe.com/api/charges/retrieve.
func (a account) charge(ctx context.Context, id string) (*sdk.Charge, error) {
	ctx, answer := providerhttp.Watch(ctx)
	params := &sdk.ChargeRetrieveParams{}
	params.StripeAccount = a.header()
	ch, err := a.client.V1Charges.Retrieve(ctx, id, params)
	return ch, about(answer, err, id, ch.ID)
}

// refund is https://docs.stripe.com/api/refunds/retrieve: what it gives back.
func (a account) refund(ctx context.Context, id string) (*sdk.PaymentIntent, *sdk.Charge, error) {
	ctx, answer := providerhttp.Watch(ctx)
	params := &sdk.RefundRetrieveParams{}
	params.StripeAccount = a.header()
	re, err := a.client.V1Refunds.Retrieve(ctx, id, params)
	return re.PaymentIntent, re.Charge, about(answer, err, id, re.ID)
}

// dispute is https://docs.stripe.com/api/disputes/retrieve: what it is about.
func (a account) dispute(ctx context.Context, id string) (*sdk.PaymentIntent, *sdk.Charge, error) {
	ctx, answer := providerhttp.Watch(ctx)
	params := &sdk.DisputeRetrieveParams{}
	params.StripeAccount = a.header()
	du, err := a.client.V1Disputes.Retrieve(ctx, id, params)
	return du.PaymentIntent, du.Charge, about(answer, err, id, du.ID)
}

// reference returns what may become part of a path, else "". Events that Handover stored before it followed refunds name
// a charge as "charge:" and its id.
func reference(ref string) string { return providerhttp.CleanID(strings.TrimPrefix(ref, "charge:")) }

func errMissing() error { return &payment.APIError{Status: http.StatusNotFound, Code: codeMissing} }

// PaidSessions lists finished sessions, newest first (https://docs.stripe.com/api/checkout/sessions/list). The list goes
// by creation, and a session can stay open for a day before the buyer finishes it. A platform's own sessions come after
// the connected account's: its events are taken, too.
func (p *Provider) PaidSessions(ctx context.Context, since time.Time, cursor string) ([]order.Sale, string, error) {
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	after, own := strings.CutPrefix(cursor, ownCursor)
	a := account{p.client, p.account}
	if own {
		a.id = ""
	}
	if after != "" && !p.ValidSession(after) {
		return nil, "", errors.New("stripe: the cursor is not one of this list's")
	}
	page, next, err := a.finished(ctx, since.Add(-openFor), after)
	switch {
	case err != nil:
		return nil, "", err
	case own && next != "":
		next = ownCursor + next
	case next == "" && a.id != "":
		next = ownCursor
	}
	return p.sales(page), next, nil
}

// finished reads one page, and the id after which the next one begins.
func (a account) finished(ctx context.Context, since time.Time, after string) (page []*sdk.CheckoutSession, next string, err error) {
	ctx, answer := providerhttp.Watch(ctx)
	list := a.client.V1CheckoutSessions.List(ctx, &sdk.CheckoutSessionListParams{
		ListParams:   a.paged(after),
		Status:       sdk.String(string(sdk.CheckoutSessionStatusComplete)),
		CreatedRange: &sdk.RangeQueryParams{GreaterThanOrEqual: max(since.Unix(), 0)},
	})
	if err := apiError(answer, list.Err()); err != nil {
		return nil, "", err
	}
	page = list.Data()
	if !list.Meta().HasMore {
		return page, "", nil
	}
	if len(page) > 0 {
		next = page[len(page)-1].ID
	}
	if next == "" || next == after {
		return nil, "", &payment.APIError{Status: answer.Status, Code: codeEndlessList}
	}
	return page, next, nil
}

// sales leaves out what cannot be an order here.
func (p *Provider) sales(page []*sdk.CheckoutSession) []order.Sale {
	var list []order.Sale
	for _, cs := range page {
		if !p.ValidSession(cs.ID) || cs.Status == sdk.CheckoutSessionStatusOpen || cs.Status == sdk.CheckoutSessionStatusExpired {
			continue
		}
		sale := order.Sale{Session: cs.ID, Kind: sessionKind(cs), At: time.Unix(cs.Created, 0).UTC()}
		if cs.PaymentIntent != nil {
			sale.Ref = cs.PaymentIntent.ID
		}
		list = append(list, sale)
	}
	return list
}
