package resend

import (
	"context"
	"fmt"
	"net/http"
	"net/mail"
	"strings"

	sdk "github.com/resend/resend-go/v2"

	"handover/internal/email"
	"handover/internal/finding"
	"handover/internal/providerhttp"
)

var _ email.Inspector = (*Provider)(nil)

const (
	// testDomain is Resend's own, from which an account may write to nobody but itself
	// (https://resend.com/docs/dashboard/emails/send-test-emails).
	testDomain = "resend.dev"
	verified   = "verified"
	// errRestricted is a key that may only send (https://resend.com/docs/api-reference/errors).
	errRestricted = "restricted_api_key"
)

// statuses are the words for a domain that is not verified (https://resend.com/docs/dashboard/domains/introduction), and
// what they mean.
var statuses = map[string]string{
	"not_started":        "its verification was not started",
	"pending":            "its verification is pending",
	"failed":             "its verification has failed: the DNS records were not found",
	"temporary_failure":  "it was verified, and its DNS records are not found any more",
	"partially_verified": "only a part of its DNS records is verified",
	"partially_failed":   "a part of its DNS records is not found",
}

// Inspect reads the account's domains (https://resend.com/docs/api-reference/domains/list-domains). A key that may only
// send, which is all that Handover needs, cannot read them.
func (p *Provider) Inspect(ctx context.Context, from string) []finding.Finding {
	domains, answer, err := p.domains(ctx)
	name := errorName(answer.ErrorBody)
	switch {
	case name == errRestricted:
		return []finding.Finding{
			finding.Good(email.FindingKey, "Resend takes the key, which may only send"),
			finding.Warn(email.FindingDomain, "whether "+domainOf(from)+" is verified cannot be seen with a key that may only send",
				"Look at https://resend.com/domains once. A test purchase shows it, too."),
		}
	case err != nil:
		return []finding.Finding{keyFinding(answer, name)}
	}
	return []finding.Finding{finding.Good(email.FindingKey, "Resend takes the key"), domainFinding(domains, domainOf(from))}
}

// domains reads all pages.
func (p *Provider) domains(ctx context.Context) (all []sdk.Domain, answer *providerhttp.Answer, err error) {
	limit := pageSize
	options := &sdk.ListOptions{Limit: &limit}
	ctx, answer = providerhttp.Watch(ctx)
	for range mostPages {
		page, err := p.client.Domains.ListWithOptions(ctx, options)
		if err != nil {
			return nil, answer, err
		}
		all = append(all, page.Data...)
		if !page.HasMore || len(page.Data) == 0 {
			break
		}
		options.After = &page.Data[len(page.Data)-1].Id
	}
	return all, answer, nil
}

func keyFinding(answer *providerhttp.Answer, name string) finding.Finding {
	switch {
	case answer.Status == 0:
		return finding.Fail(email.FindingKey, "Resend does not answer",
			"Is this machine's network up, and does its proxy or firewall let it reach Resend? If api_url is set in [email], correct or remove it.")
	case answer.Status == http.StatusTooManyRequests:
		return finding.Warn(email.FindingKey, "Resend asks to come back later", "Run starter check again in a minute.")
	case answer.Status == http.StatusUnauthorized, answer.Status == http.StatusForbidden, answer.Status == http.StatusBadRequest && name == "validation_error":
		// The last is what newer versions say of a wrong key (https://resend.com/docs/api-reference/errors).
		return finding.Fail(email.FindingKey, "Resend refuses the key",
			"Put a current key into api_key in [email], restart the worker, then run: starter retry --misconfigured --reason TEXT")
	}
	return finding.Fail(email.FindingKey, fmt.Sprintf("Resend answers HTTP %d without a usable body", answer.Status),
		"If Resend's status page tells of trouble, wait: emails that are owed are tried again. If api_url is set in [email], correct or remove it.")
}

// domainFinding judges the domain itself: a verified domain does not stand for those below it
// (https://resend.com/docs/dashboard/domains/introduction).
func domainFinding(domains []sdk.Domain, wanted string) finding.Finding {
	const next = "Verify it at https://resend.com/domains, or correct from in [email]; then run: starter retry --misconfigured --reason TEXT"
	if wanted == testDomain {
		return finding.Fail(email.FindingDomain, "from is an address of resend.dev, which may write to the account's owner only", "Write an address of a verified domain into from in [email].")
	}
	for _, d := range domains {
		if !strings.EqualFold(d.Name, wanted) {
			continue
		}
		if d.Status == verified {
			return finding.Good(email.FindingDomain, wanted+" is verified at Resend")
		}
		means, known := statuses[d.Status]
		if !known {
			means = "Resend has it in a state that is not known here"
		}
		return finding.Fail(email.FindingDomain, wanted+" is not verified: "+means, next)
	}
	return finding.Fail(email.FindingDomain, wanted+" is not among the account's domains", next)
}

func domainOf(from string) string {
	if parsed, err := mail.ParseAddress(from); err == nil {
		from = parsed.Address
	}
	return strings.ToLower(from[strings.LastIndex(from, "@")+1:])
}
