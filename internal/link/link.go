// Package link makes the links that only the buyer's message holds. A token is derived from a secret, the order and the
// link's version, so that no token has to be stored anywhere: the ledger knows it by its hash.
package link

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"handover/internal/order"
)

// ErrNoSecrets means that there is nothing to derive links from.
var ErrNoSecrets = errors.New("link_secrets: at least one secret is needed")

// Signer derives tokens. The first secret makes new ones; links of all secrets stay valid.
type Signer struct {
	publicURL string
	newest    string
	secrets   map[string][]byte
}

// New returns a signer for links below publicURL.
func New(publicURL string, secrets []string) (*Signer, error) {
	if len(secrets) == 0 {
		return nil, ErrNoSecrets
	}
	s := &Signer{publicURL: strings.TrimRight(publicURL, "/"), newest: Fingerprint(secrets[0]), secrets: map[string][]byte{}}
	for _, secret := range secrets {
		s.secrets[Fingerprint(secret)] = []byte(secret)
	}
	return s, nil
}

// Fingerprint names a secret without telling it: the ledger remembers by it which one made a link.
func Fingerprint(secret string) string {
	sum := sha256.Sum256([]byte("handover link secret\n" + secret))
	return hex.EncodeToString(sum[:6])
}

// Newest names the secret that makes new links.
func (s *Signer) Newest() string { return s.newest }

// Token derives the token of an order's link: 43 characters of base64url. A secret that has left the list is an error.
func (s *Signer) Token(secret string, key order.Key, version int) (string, error) {
	k, found := s.secrets[secret]
	if !found {
		return "", fmt.Errorf("link_secrets: a message that still has to be sent was made with a secret (%s) that has left the list: put it back behind the first", secret)
	}
	mac := hmac.New(sha256.New, k)
	mac.Write([]byte("handover link 1\n" + key.String() + "\n" + strconv.Itoa(version)))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), nil
}

// Base is where new links stand.
func (s *Signer) Base() string { return s.publicURL }

// URL is the address that goes into the message, below the base with which it was rendered.
func URL(base, token string) string { return base + "/d/" + token }

// Hash is what the ledger keeps of a token.
func Hash(token string) [32]byte { return sha256.Sum256([]byte(token)) }
