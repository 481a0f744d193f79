package stripe

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
	signatureHeader = "Stripe-Signature"
	// Stripe sends one timestamp and, while a secret is rolled, two signatures. The bounds keep a stranger from making us
	// hash a large body many times over.
	maxTimestamps = 4
	maxSignatures = 32
)

// Verify checks the Stripe-Signature header: hex HMAC-SHA256 over the timestamp, a dot and the raw body, with the secret's
// whole text as key (https://docs.stripe.com/webhooks#verify-manually). Several signatures, several header lines and
// lines that a proxy has joined are all read, and any of them may match any secret. Only v1 counts: taking v0 would let a
// sender choose the weaker scheme. A timestamp more than 300 s off is stale, in the future too.
func (p *Provider) Verify(header http.Header, body []byte, now time.Time) error {
	timestamps, signatures, err := readSignature(header, now)
	if err != nil {
		return err
	}
	for _, t := range timestamps {
		for _, secret := range p.secrets {
			if providerhttp.Match(providerhttp.SHA256(secret, body, t), signatures) {
				return nil
			}
		}
	}
	return fmt.Errorf("%w: no secret made the signature", payment.ErrSignature)
}

// Signed says whether the header has a signature and a timestamp that is not stale.
func (p *Provider) Signed(header http.Header, now time.Time) error {
	_, _, err := readSignature(header, now)
	return err
}

// readSignature returns the timestamps that are fresh and the signatures.
func readSignature(header http.Header, now time.Time) (fresh []string, signatures [][]byte, err error) {
	timestamps, signatures := parseSignature(header.Values(signatureHeader))
	if len(timestamps) == 0 || len(signatures) == 0 {
		return nil, nil, fmt.Errorf("%w: no usable %s header", payment.ErrSignature, signatureHeader)
	}
	for _, t := range timestamps {
		if providerhttp.Fresh(t, now) {
			fresh = append(fresh, t)
		}
	}
	if len(fresh) == 0 {
		return nil, nil, fmt.Errorf("%w: the timestamp is too far off", payment.ErrSignature)
	}
	return fresh, signatures, nil
}

// parseSignature collects what could be a timestamp or a v1 signature. Which belongs to which need not be known: a
// signature covers its timestamp, so only the right pair can match. What is unknown or broken is skipped.
func parseSignature(lines []string) (timestamps []string, signatures [][]byte) {
	for _, line := range lines {
		for pair := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			switch name {
			case "t":
				if value != "" && len(timestamps) < maxTimestamps {
					timestamps = append(timestamps, value)
				}
			case "v1":
				mac, err := hex.DecodeString(value)
				if err == nil && len(mac) > 0 && len(signatures) < maxSignatures {
					signatures = append(signatures, mac)
				}
			}
		}
	}
	return timestamps, signatures
}
