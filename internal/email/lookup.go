package email

import (
	"net/mail"
	"strings"
	"time"
)

// Lookup describes a message that the provider may have taken.
type Lookup struct {
	From, To, Subject string
	Since, Until      time.Time // when it can have been taken, at the earliest and at the latest
}

// Matches says whether a listed message can be the one looked for: from the same address, to the same address alone, with
// the same subject, within the time.
func (l Lookup) Matches(from string, to []string, subject string, at time.Time) bool {
	if len(to) != 1 || subject != l.Subject || !sameAddress(to[0], l.To) || !sameAddress(from, l.From) {
		return false
	}
	return !at.Before(l.Since) && !at.After(l.Until)
}

// sameAddress compares addresses without their names, in any letter case.
func sameAddress(a, b string) bool { return strings.EqualFold(bare(a), bare(b)) }

func bare(address string) string {
	if parsed, err := mail.ParseAddress(address); err == nil {
		return parsed.Address
	}
	return strings.TrimSpace(address)
}
