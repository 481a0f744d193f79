package creem

import (
	"strconv"
	"strings"
	"time"

	"handover/internal/providerhttp"
)

// maxWhole bounds what a JSON number holds exactly.
const maxWhole = 1 << 53

// whole reads a number that counts something: units, or an amount in minor units. Null, a fraction and a negative number
// are none.
func whole(o providerhttp.Object, name string) (n int64, ok bool) {
	f, err := strconv.ParseFloat(string(o[name]), 64)
	if err != nil || !(f >= 0 && f <= maxWhole) || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}

// firstWhole returns the first of the fields that holds a number.
func firstWhole(o providerhttp.Object, names ...string) (n int64, ok bool) {
	for _, name := range names {
		if n, ok = whole(o, name); ok {
			return n, true
		}
	}
	return 0, false
}

// secondsEnd tells the two units of a timestamp apart: as milliseconds it lies in 1973, as seconds in the year 5138.
const secondsEnd = 100_000_000_000

// moment reads a timestamp. In the samples of https://docs.creem.io/learn/webhooks/event-types, transactions count in
// milliseconds and an order has a text; the API's reference names no unit.
func moment(o providerhttp.Object, name string) time.Time {
	if at, err := time.Parse(time.RFC3339, o.Text(name)); err == nil {
		return at.UTC()
	}
	n, ok := whole(o, name)
	switch {
	case !ok || n == 0:
		return time.Time{}
	case n < secondsEnd:
		return time.Unix(n, 0).UTC()
	}
	return time.UnixMilli(n).UTC()
}

// clean trims outer spaces and drops NUL, which JSON allows and Postgres cannot store.
func clean(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\x00", "")) }
