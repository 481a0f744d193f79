package creem

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"

	"handover/internal/payment"
	"handover/internal/providerhttp"
)

const (
	signatureHeader = "Creem-Signature"
	// maxSignatures keeps a header full of guesses from costing much. Creem sends one.
	maxSignatures = 32
)

// Verify checks the creem-signature header: lower-case hex HMAC-SHA256 over the raw body, with the secret's whole text as
// key (https://docs.creem.io/learn/webhooks/verify-webhook-requests). The scheme has no timestamp, so an old delivery that
// somebody recorded verifies again: the event's id shows what was already handled, and a payment is never believed
// from a webhook.
func (p *Provider) Verify(header http.Header, body []byte, now time.Time) error {
	if err := p.Signed(header, now); err != nil {
		return err
	}
	signatures := parseSignatures(header.Values(signatureHeader))
	for _, secret := range p.secrets {
		if providerhttp.Match(providerhttp.SHA256(secret, body), signatures) {
			return nil
		}
	}
	return fmt.Errorf("%w: no secret made the signature", payment.ErrSignature)
}

// Signed says whether the header has a signature.
func (p *Provider) Signed(header http.Header, _ time.Time) error {
	if len(parseSignatures(header.Values(signatureHeader))) == 0 {
		return fmt.Errorf("%w: no usable %s header", payment.ErrSignature, signatureHeader)
	}
	return nil
}

// parseSignatures collects what could be a signature from every line, and from lines that a proxy has joined.
func parseSignatures(lines []string) [][]byte {
	var signatures [][]byte
	for _, line := range lines {
		for text := range strings.SplitSeq(line, ",") {
			text = strings.TrimSpace(text)
			mac, err := hex.DecodeString(text)
			if err == nil && len(mac) > 0 && text == strings.ToLower(text) && len(signatures) < maxSignatures {
				signatures = append(signatures, mac)
			}
		}
	}
	return signatures
}
