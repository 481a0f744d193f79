package core

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Object is a JSON object as a provider gives it.
type Object = map[string]any

// Product is something that the shop page sells and whose price a checkout may name.
type Product struct {
	Price    string `json:"price"`   // the provider's price id, price_…
	Product  string `json:"product"` // the provider's product id, prod_…
	Name     string `json:"name"`
	Amount   int64  `json:"amount"`   // minor units
	Currency string `json:"currency"` // ISO 4217; usd when empty
}

// OrNull is how a provider gives an absent text.
func OrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// OrEmpty is how a provider gives absent metadata.
func OrEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// WriteJSON answers with a JSON value.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone, and there is nobody else to answer
}

// OneOf is the error about a word that is none of a provider's.
func OneOf(name string, words []string) error {
	return fmt.Errorf("%s: one of %s", name, strings.Join(words, ", "))
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// NewID makes an id as Stripe's look: a prefix and n letters and digits.
func NewID(prefix string, n int) string {
	raw := make([]byte, n)
	rand.Read(raw) // never fails (https://pkg.go.dev/crypto/rand#Read)
	for i, b := range raw {
		raw[i] = alphabet[int(b)%len(alphabet)]
	}
	return prefix + string(raw)
}
