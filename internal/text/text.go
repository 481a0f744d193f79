// Package text writes what people read: ages, counts and single clean lines.
package text

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Age writes a duration in its largest unit.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// Count writes a number with its noun: "1 order", "2 orders".
func Count(n int, noun string) string {
	return fmt.Sprintf("%d %s", n, Plural(n, noun, noun+"s"))
}

// Plural chooses between a noun's two forms.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Line makes one line of text that somebody else wrote: without line breaks, terminal escapes, and marks that turn the
// direction of writing, because all three can make a reader see what is not there.
func Line(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c), c == '\u2028', c == '\u2029':
			return ' '
		case unicode.IsControl(c), unicode.Is(unicode.Bidi_Control, c):
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}
