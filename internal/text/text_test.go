package text_test

import (
	"testing"
	"time"

	"handover/internal/text"
)

func TestAgeIsWrittenInItsLargestUnit(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 s", 59 * time.Second: "59 s", time.Minute: "1 min", 59*time.Minute + 59*time.Second: "59 min",
		time.Hour: "1 h", 47 * time.Hour: "47 h", 48 * time.Hour: "2 days", 400 * 24 * time.Hour: "400 days",
	} {
		if got := text.Age(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestCountAgreesWithItsNoun(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 orders", 1: "1 order", 2: "2 orders"} {
		if got := text.Count(n, "order"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestForeignTextIsOneCleanLine(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"The  Guide":             "The Guide",
		" a\r\nb\tc ":            "a b c",
		"red\x1b[31m":            "red[31m",
		"abc\u202egpj.exe":       "abcgpj.exe",
		"one\u2028two\x00":       "one two",
		"not \xff UTF-8":         "not \uFFFD UTF-8",
		"Caf\u00e9 \u65e5\u672c": "Caf\u00e9 \u65e5\u672c",
	} {
		if got := text.Line(from); got != want {
			t.Errorf("%q is %q, want %q", from, got, want)
		}
	}
}
