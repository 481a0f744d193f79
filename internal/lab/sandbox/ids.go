package sandbox

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// newID makes an id as Stripe's look: a prefix and n letters and digits.
func newID(prefix string, n int) string {
	raw := make([]byte, n)
	rand.Read(raw) // never fails (https://pkg.go.dev/crypto/rand#Read)
	for i, b := range raw {
		raw[i] = alphabet[int(b)%len(alphabet)]
	}
	return prefix + string(raw)
}

// newUUID makes an id as Resend's look.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return fmt.Sprintf("%s-%s-%s-%s-%s", h[:8], h[8:12], h[12:16], h[16:20], h[20:])
}
