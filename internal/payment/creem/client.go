package creem

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"handover/internal/payment"
	"handover/internal/providerhttp"
)

const (
	// maxAnswer is far above what a checkout or a page of a hundred transactions takes.
	maxAnswer = 1 << 20

	codeMissing       = "not_found"        // Creem knows no such checkout or order
	codeWrongCheckout = "wrong_checkout"   // the answer is about another checkout than the one asked for
	codeTooLarge      = "answer_too_large" // more than maxAnswer
	codeEndlessList   = "endless_list"     // the list does not end
	codeUnclear       = "unclear_refund"   // a refund without an amount
)

// get reads one object (https://docs.creem.io/api-reference/error-codes). It retries nothing: that is Temporal's, where
// it can be seen and is bounded. Its errors are *payment.APIError, and hold nothing that Creem wrote: its errors have no
// codes, only texts. A success that cannot be read is no answer: asking again is safe.
func (p *Provider) get(ctx context.Context, path string, query url.Values) (providerhttp.Object, error) {
	ctx, answer := providerhttp.Watch(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, &payment.APIError{}
	}
	req.Header.Set("X-Api-Key", p.key)
	req.Header.Set("Accept", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, &payment.APIError{}
	}
	defer resp.Body.Close()
	if answer.Status >= http.StatusMultipleChoices {
		return nil, &payment.APIError{Status: answer.Status, RetryAfter: answer.RetryAfter}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, &payment.APIError{}
	}
	if len(body) > maxAnswer {
		return nil, &payment.APIError{Status: answer.Status, Code: codeTooLarge}
	}
	o, ok := providerhttp.ParseObject(body)
	if !ok {
		return nil, &payment.APIError{}
	}
	return o, nil
}

func missing() error { return &payment.APIError{Status: http.StatusNotFound, Code: codeMissing} }

// wrong is an answer that was read and cannot be used: repeating the question brings the same.
func wrong(code string) error { return &payment.APIError{Status: http.StatusOK, Code: code} }
