package stripe

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/stripe/stripe-go/v85"

	"handover/internal/finding"
	"handover/internal/payment"
	"handover/internal/providerhttp"
)

// The types of https://docs.stripe.com/api/events/types that an endpoint has to be subscribed to: without the first ones a
// payment goes unnoticed, without the others its refund or its failure.
var (
	eventsOfSales  = []string{"checkout.session.completed", "checkout.session.async_payment_succeeded"}
	eventsOfLosses = []string{"checkout.session.async_payment_failed", "checkout.session.expired"}
	eventsOfMoney  = []string{
		"charge.refunded", "refund.created", "refund.updated", "refund.failed",
		"charge.dispute.created", "charge.dispute.updated", "charge.dispute.closed",
		"charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated",
	}
)

const everyEvent = "*"

// where says how an endpoint's address stands to the one that is wanted.
type where int

const (
	elsewhere   where = iota
	samePath          // another host's address of the same path: perhaps a shop that has moved
	otherPath         // this shop, and not the address of this environment
	otherScheme       // the address, by http instead of https or the other way round
	slashed           // the address with a slash at its end
	exact
)

// inspectEndpoints holds the account's list of endpoints against the address that its events have to go to. The list is
// the key's own account's, where a platform has the endpoints of its connected accounts, too
// (https://docs.stripe.com/api/webhook_endpoints/list).
func (p *Provider) inspectEndpoints(ctx context.Context, wanted string) []finding.Finding {
	ctx, answer := providerhttp.Watch(ctx)
	a := account{client: p.client}
	list, err := listing[sdk.WebhookEndpoint]{
		id: func(e *sdk.WebhookEndpoint) string { return e.ID },
		page: func(after string) *sdk.V1List[*sdk.WebhookEndpoint] {
			return a.client.V1WebhookEndpoints.List(ctx, &sdk.WebhookEndpointListParams{ListParams: a.paged(after)})
		},
	}.rest(answer, nil, true)
	switch {
	case isForbidden(err):
		return []finding.Finding{forbidden("Webhook Endpoints", "whether the account's events go to "+wanted+" cannot be seen", finding.Warning)}
	case err != nil:
		return []finding.Finding{finding.Warn(payment.FindingEndpoint, "the account's webhook endpoints could not be read", "Run starter check again.")}
	}
	return judgeEndpoints(list, wanted)
}

func judgeEndpoints(list []*sdk.WebhookEndpoint, wanted string) []finding.Finding {
	at := map[where][]*sdk.WebhookEndpoint{}
	for _, e := range list {
		place := place(e.URL, wanted)
		at[place] = append(at[place], e)
	}
	leading := slices.Concat(at[exact], at[slashed])
	enabled := slices.DeleteFunc(slices.Clone(leading), func(e *sdk.WebhookEndpoint) bool { return e.Status != "enabled" })
	if len(enabled) == 0 {
		return []finding.Finding{noEndpoint(at, leading, len(list), wanted)}
	}
	found := []finding.Finding{finding.Good(payment.FindingEndpoint, "Stripe sends events to "+wanted)}
	if len(enabled) > 1 {
		found[0] = finding.Warn(payment.FindingEndpoint,
			fmt.Sprintf("%d endpoints lead to %s: every event comes more than once (%s)", len(enabled), wanted, ids(enabled)),
			"Delete all but the one whose signing secret is in webhook_secrets. Nothing is delivered twice meanwhile.")
	} else if place(enabled[0].URL, wanted) == slashed {
		found[0] = finding.Warn(payment.FindingEndpoint, "the endpoint's address has a slash at its end, which some proxies redirect; Stripe follows no redirect",
			"In Stripe's dashboard, change its address to "+wanted)
	}
	if others := slices.Concat(at[otherPath], at[otherScheme]); len(others) > 0 {
		found = append(found, finding.Warn(payment.FindingEndpoint, "also leading to this shop, at another address: "+ids(others),
			"Delete it, unless it belongs to another environment of the same account; its events are refused otherwise."))
	}
	return append(found, judgeEvents(enabled)...)
}

// noEndpoint says why nothing comes.
func noEndpoint(at map[where][]*sdk.WebhookEndpoint, disabled []*sdk.WebhookEndpoint, all int, wanted string) finding.Finding {
	const dashboard = "In Stripe's dashboard (Developers, Webhooks), "
	correct := dashboard + "change its address to " + wanted
	fail := func(says, next string) finding.Finding { return finding.Fail(payment.FindingEndpoint, says, next) }
	switch {
	case len(disabled) > 0:
		return fail("the endpoint is disabled ("+ids(disabled)+"): Stripe tells nobody of a sale",
			dashboard+"enable it. What was paid meanwhile is found by: starter reconcile --since 720h")
	case len(at[otherScheme]) > 0:
		return fail("the endpoint has http where public_url has https, or the other way round ("+ids(at[otherScheme])+"); Stripe follows no redirect", correct)
	case len(at[otherPath]) > 0:
		return fail("the endpoint leads to another path of this shop ("+ids(at[otherPath])+")", correct)
	case len(at[samePath]) > 0:
		return fail("the endpoint leads to another host ("+ids(at[samePath])+")", correct+", or correct public_url")
	}
	says := "no endpoint of the account leads to " + wanted
	if all > 0 {
		says += fmt.Sprintf("; it has %d that lead elsewhere", all)
	}
	return fail(says, dashboard+"add it, and put its signing secret into webhook_secrets. On a developer's machine, with stripe listen running, there is none.")
}

func judgeEvents(enabled []*sdk.WebhookEndpoint) []finding.Finding {
	var on []string
	for _, e := range enabled {
		on = append(on, e.EnabledEvents...)
	}
	missing := func(wanted ...string) (list []string) {
		for _, name := range wanted {
			if !slices.Contains(on, name) && !slices.Contains(on, everyEvent) {
				list = append(list, name)
			}
		}
		return list
	}
	const next = "In Stripe's dashboard, add to the endpoint's events: "
	var found []finding.Finding
	if list := missing(eventsOfSales...); len(list) > 0 {
		found = append(found, finding.Fail(payment.FindingEvents, "sales are not reported: "+strings.Join(list, ", "), next+strings.Join(list, ", ")))
	}
	if list := missing(eventsOfLosses...); len(list) > 0 {
		found = append(found, finding.Warn(payment.FindingEvents, "failed payments are not reported: "+strings.Join(list, ", "), next+strings.Join(list, ", ")))
	}
	if list := missing(eventsOfMoney...); len(list) > 0 {
		found = append(found, finding.Warn(payment.FindingEvents, "refunds and disputes are not reported: "+strings.Join(list, ", "), next+strings.Join(list, ", ")))
	}
	if found == nil {
		found = append(found, finding.Good(payment.FindingEvents, "all that are needed are subscribed to"))
	}
	return found
}

// place compares two addresses. A host is the same in any letter case, a path is not.
func place(have, wanted string) where {
	h, errH := url.Parse(have)
	w, errW := url.Parse(wanted)
	if errH != nil || errW != nil {
		return elsewhere
	}
	samePaths, sameSlashed := h.Path == w.Path && h.RawQuery == "", h.Path == w.Path+"/" && h.RawQuery == ""
	sameHost, sameScheme := strings.EqualFold(host(h), host(w)), strings.EqualFold(h.Scheme, w.Scheme)
	switch {
	case !sameHost && strings.EqualFold(h.Hostname(), w.Hostname()) && !sameScheme && (samePaths || sameSlashed):
		return otherScheme // with the ports of their schemes
	case !sameHost && samePaths:
		return samePath
	case !sameHost:
		return elsewhere
	case !samePaths && !sameSlashed:
		return otherPath
	case !sameScheme:
		return otherScheme
	case sameSlashed:
		return slashed
	}
	return exact
}

// host has its port, also the one that the scheme implies.
func host(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case strings.EqualFold(u.Scheme, "http"):
		port = "80"
	default:
		port = "443"
	}
	return u.Hostname() + ":" + port
}

// ids names endpoints by what may be shown of them.
func ids(list []*sdk.WebhookEndpoint) string {
	var names []string
	for _, e := range list {
		if id := providerhttp.CleanID(e.ID); id != "" {
			names = append(names, id)
		}
	}
	return strings.Join(names, ", ")
}
