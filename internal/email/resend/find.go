package resend

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	sdk "github.com/resend/resend-go/v2"

	"handover/internal/email"
	"handover/internal/providerhttp"
)

const (
	// pageSize is the most that one answer lists (https://resend.com/docs/api-reference/emails/list-emails).
	pageSize = 100
	// mostPages bounds a look. A shop that has sent more since the message in question looks for it by hand.
	mostPages = 20
	// unsaidWait and longestWait are for a rate limit met in the middle of a look: the wait when the answer does not say
	// one, and what is still waited for here. A longer one is the caller's to wait.
	unsaidWait  = time.Second
	longestWait = 10 * time.Second
)

var _ email.Finder = (*Provider)(nil)

// Find goes through the list of sent mail, newest first, until it is older than what is looked for. The list has neither
// tags nor idempotency keys and offers no search (https://resend.com/docs/api-reference/emails/list-emails). A key that
// may only send is refused it (https://resend.com/docs/api-reference/errors, restricted_api_key).
func (p *Provider) Find(ctx context.Context, l email.Lookup) ([]string, error) {
	var ids []string
	after := ""
	for range mostPages {
		page, err := p.list(ctx, after)
		if err != nil {
			return nil, err
		}
		for _, m := range page.Data {
			at := occurredAt(m.CreatedAt)
			switch {
			case at.IsZero() && l.Matches(m.From, m.To, m.Subject, l.Since), providerhttp.CleanID(m.Id) == "":
				return nil, fmt.Errorf("resend: a listed message has no usable id or time: %w", email.ErrNoList)
			case l.Matches(m.From, m.To, m.Subject, at):
				ids = append(ids, m.Id)
			}
		}
		if !page.HasMore || len(page.Data) == 0 {
			return ids, nil
		}
		last := page.Data[len(page.Data)-1]
		if at := occurredAt(last.CreatedAt); !at.IsZero() && at.Before(l.Since) {
			return ids, nil
		}
		after = last.Id
	}
	return nil, fmt.Errorf("resend: more than %d messages were sent since: %w", mostPages*pageSize, email.ErrNoList)
}

// list reads one page, and waits where the provider asks to.
func (p *Provider) list(ctx context.Context, after string) (sdk.ListEmailsResponse, error) {
	limit := pageSize
	options := &sdk.ListOptions{Limit: &limit}
	if after != "" {
		options.After = &after
	}
	for {
		page, refused, err := p.listOnce(ctx, options)
		if refused == nil || refused.Status != http.StatusTooManyRequests {
			return page, err
		}
		wait := cmp.Or(refused.RetryAfter, unsaidWait)
		if deadline, bounded := ctx.Deadline(); wait > longestWait || bounded && time.Until(deadline) < wait {
			return page, refused
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return page, refused
		}
	}
}

func (p *Provider) listOnce(ctx context.Context, options *sdk.ListOptions) (page sdk.ListEmailsResponse, refused *email.SendError, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	ctx, answer := providerhttp.Watch(ctx)
	page, err = p.client.Emails.ListWithOptions(ctx, options)
	switch {
	case answer.Status == 0:
		refused = &email.SendError{}
	case answer.Status >= 500 || answer.Status == http.StatusTooManyRequests || answer.Status == http.StatusRequestTimeout:
		refused = &email.SendError{Status: answer.Status, Name: errorName(answer.ErrorBody), RetryAfter: answer.RetryAfter}
	case answer.Status >= http.StatusMultipleChoices:
		return page, nil, fmt.Errorf("resend: HTTP %d %s: %w", answer.Status, errorName(answer.ErrorBody), email.ErrNoList)
	case err != nil:
		refused = &email.SendError{Status: answer.Status, Unreadable: true}
	default:
		return page, nil, nil
	}
	return page, refused, refused
}
