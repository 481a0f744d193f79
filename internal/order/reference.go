package order

import "strings"

// Reference is the short public name of an order, like HO-7K3M9QXT. It is random and opens nothing, so emails, pages and
// alerts may show it.
type Reference string

// The shape of a reference: the prefix, then letters and digits of Crockford's base32, which has no I, L, O or U, so that
// a reference survives being read aloud and typed (https://www.crockford.com/base32.html).
const (
	referencePrefix   = "HO-"
	referenceLength   = 8
	referenceAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

var confused = strings.NewReplacer("O", "0", "I", "1", "L", "1")

// ParseReference reads a reference as a person types it: in any letter case, with or without the prefix's dash, and with
// the letters that are easily confused. It reports false for anything else.
func ParseReference(text string) (Reference, bool) {
	code, found := strings.CutPrefix(strings.ToUpper(strings.TrimSpace(text)), "HO")
	if !found {
		return "", false
	}
	code = confused.Replace(strings.TrimPrefix(code, "-"))
	if len(code) != referenceLength || strings.Trim(code, referenceAlphabet) != "" {
		return "", false
	}
	return Reference(referencePrefix + code), true
}
