package resend

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"

	"handover/internal/email"
	"handover/internal/providerhttp"
)

// maxSignatures bounds how many signatures of one message are compared. A sender has one for each of its secrets.
const maxSignatures = 32

// Verify checks a message of the Standard Webhooks scheme: base64 HMAC-SHA256 over the message's id, its timestamp and
// the raw body, joined by dots (https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests). Resend sends the
// svix- headers; the standard's own webhook- headers are read too. Only v1 signatures count. A timestamp more than 300 s
// off is stale, in the future too.
func (p *Provider) Verify(header http.Header, body []byte, now time.Time) (id string, err error) {
	messages, err := readMessages(header, now)
	if err != nil {
		return "", err
	}
	for _, m := range messages {
		for _, key := range p.keys {
			// Compared as text: base64 has several spellings of the same bytes, and only one of them was sent.
			want := base64.StdEncoding.EncodeToString(providerhttp.SHA256(key, body, m.id, m.timestamp))
			if providerhttp.Match([]byte(want), m.signatures) {
				return m.id, nil
			}
		}
	}
	return "", fmt.Errorf("%w: no secret made the signature", email.ErrSignature)
}

// Signed says whether the headers have an id, a timestamp that is not stale and a signature.
func (p *Provider) Signed(header http.Header, now time.Time) error {
	_, err := readMessages(header, now)
	return err
}

// message is what the headers say of a message.
type message struct {
	id, timestamp string
	signatures    [][]byte
}

// readMessages returns what can be a message of ours: one for each spelling of the headers at most.
func readMessages(header http.Header, now time.Time) ([]message, error) {
	var fresh []message
	complete := false
	for _, prefix := range []string{"Svix-", "Webhook-"} {
		m := message{header.Get(prefix + "Id"), header.Get(prefix + "Timestamp"), parseSignatures(header.Values(prefix + "Signature"))}
		if !providerhttp.ValidName(m.id) || m.timestamp == "" || len(m.signatures) == 0 {
			continue
		}
		complete = true
		if providerhttp.Fresh(m.timestamp, now) {
			fresh = append(fresh, m)
		}
	}
	switch {
	case !complete:
		return nil, fmt.Errorf("%w: id, timestamp or signature header missing", email.ErrSignature)
	case len(fresh) == 0:
		return nil, fmt.Errorf("%w: the timestamp is too far off", email.ErrSignature)
	}
	return fresh, nil
}

// parseSignatures returns the v1 entries of the lists, which are separated by spaces.
func parseSignatures(lines []string) [][]byte {
	var list [][]byte
	for _, line := range lines {
		for entry := range strings.FieldsSeq(line) {
			value, found := strings.CutPrefix(entry, "v1,")
			if found && value != "" && len(list) < maxSignatures {
				list = append(list, []byte(value))
			}
		}
	}
	return list
}
