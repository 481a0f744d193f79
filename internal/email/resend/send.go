package resend

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	sdk "github.com/resend/resend-go/v2"

	"handover/internal/email"
	"handover/internal/order"
	"handover/internal/providerhttp"
)

// maxKey is the longest idempotency key, in characters (https://resend.com/docs/dashboard/emails/idempotency-keys).
const maxKey = 256

// Send makes one POST and no more: the SDK does not retry, and the body cannot be sent twice by the HTTP client. The same
// message gives the same bytes every time, which is what Resend compares under a repeated key. The key goes into the
// request's own header; as a header of the email it would protect nothing.
//
// A SendError with status 0 and one that is unreadable leave the outcome unknown: the message may be on its way, and only
// the same key and the same message may be tried again.
func (p *Provider) Send(ctx context.Context, key string, m order.Message) (string, error) {
	if !validKey(key) {
		refused := &email.SendError{Status: http.StatusBadRequest, Name: "invalid_idempotency_key"}
		return "", fmt.Errorf("resend: not sent: an idempotency key has 1 to %d printable characters, this one %d: %w", maxKey, len(key), refused)
	}
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	ctx, answer := providerhttp.Watch(ctx)
	sent, err := p.client.Emails.SendWithOptions(ctx, request(m), &sdk.SendEmailOptions{IdempotencyKey: key})
	// Whatever the SDK says is read only for a success: its errors hold the provider's text, which may quote an
	// address, and have lost status and name.
	switch {
	case answer.Status == 0:
		return "", &email.SendError{}
	case answer.Status >= http.StatusMultipleChoices:
		return "", &email.SendError{Status: answer.Status, Name: errorName(answer.ErrorBody), RetryAfter: answer.RetryAfter}
	case err != nil || sent == nil || providerhttp.CleanID(sent.Id) == "":
		return "", &email.SendError{Status: answer.Status, Unreadable: true}
	}
	return sent.Id, nil
}

func request(m order.Message) *sdk.SendEmailRequest {
	r := &sdk.SendEmailRequest{
		From:    m.From,
		To:      []string{m.To},
		ReplyTo: m.ReplyTo,
		Subject: m.Subject,
		Text:    m.Text,
		Html:    m.HTML,
	}
	if m.EntityRef != "" { // https://resend.com/docs/dashboard/emails/custom-headers
		r.Headers = map[string]string{"X-Entity-Ref-ID": m.EntityRef}
	}
	for _, t := range m.Tags {
		r.Tags = append(r.Tags, sdk.Tag{Name: t.Name, Value: t.Value})
	}
	return r
}

func validKey(key string) bool {
	if key == "" || len(key) > maxKey {
		return false
	}
	for _, c := range []byte(key) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

// errorName takes the name of an error only when it is one of the documented ones: what a provider writes must not reach
// a log unchecked.
func errorName(body []byte) string {
	var said struct {
		Name    string `json:"name"`
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &said) != nil || !documented[said.Name] {
		return ""
	}
	if said.Name == "validation_error" {
		return validationOf(strings.ToLower(said.Message))
	}
	return said.Name
}

// validationOf tells a fault of the shop's settings from one of the message: Resend calls both validation_error, and only
// its text says which. The text is read for that and goes nowhere.
func validationOf(message string) string {
	switch {
	case strings.Contains(message, "api key"):
		return "invalid_api_key"
	case strings.Contains(message, "`from`") || strings.Contains(message, "from field") || strings.Contains(message, "domain is not verified"):
		return "invalid_from_address"
	}
	return "validation_error"
}

// documented are the names of https://resend.com/docs/api-reference/errors.
var documented = map[string]bool{
	"application_error":              true,
	"concurrent_idempotent_requests": true,
	"daily_quota_exceeded":           true,
	"internal_server_error":          true,
	"invalid_access":                 true,
	"invalid_api_key":                true,
	"invalid_attachment":             true,
	"invalid_from_address":           true,
	"invalid_idempotency_key":        true,
	"invalid_idempotent_request":     true,
	"invalid_parameter":              true,
	"invalid_region":                 true,
	"method_not_allowed":             true,
	"missing_api_key":                true,
	"missing_required_field":         true,
	"monthly_quota_exceeded":         true,
	"not_found":                      true,
	"rate_limit_exceeded":            true,
	"resource_locked":                true,
	"restricted_api_key":             true,
	"security_error":                 true,
	"service_unavailable":            true,
	"validation_error":               true,
}
