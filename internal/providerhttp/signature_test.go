package providerhttp_test

import (
	"encoding/hex"
	"testing"
	"time"

	"handover/internal/providerhttp"
)

func TestTimestampCountsWithinTheWindowOnly(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	for _, test := range []struct {
		name      string
		timestamp string
		now       time.Time
		want      bool
	}{
		{"now", "1700000000", now, true},
		{"299 s old", "1699999701", now, true},
		{"exactly 300 s old", "1699999700", now, true},
		{"300 s and 1 ms old", "1699999700", now.Add(time.Millisecond), false},
		{"exactly 300 s ahead", "1700000300", now, true},
		{"300 s and 1 ms ahead", "1700000300", now.Add(-time.Millisecond), false},
		{"a day ahead", "1700086400", now, false},
		{"zero", "0", now, false},
		{"negative", "-1", now, false},
		{"with a sign", "+1700000000", now, false},
		{"fractional", "1700000000.5", now, false},
		{"spaced", " 1700000000", now, false},
		{"hexadecimal", "0x6553f100", now, false},
		{"other digits", "१७००००००००", now, false},
		{"beyond int64", "99999999999999999999", now, false},
		{"int64's last", "9223372036854775807", now, false},
		{"twelve digits", "999999999999", now, false},
		{"empty", "", now, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := providerhttp.Fresh(test.timestamp, test.now); got != test.want {
				t.Errorf("Fresh(%q) = %v, want %v", test.timestamp, got, test.want)
			}
		})
	}
}

// The value was made with: printf '1700000000.{}' | openssl dgst -sha256 -hmac key
func TestSHA256JoinsItsPartsWithDots(t *testing.T) {
	t.Parallel()
	const want = "9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae"
	if got := hex.EncodeToString(providerhttp.SHA256([]byte("key"), []byte("{}"), "1700000000")); got != want {
		t.Errorf("SHA256 = %s, want %s", got, want)
	}
}

func TestMatchFindsAnyCandidate(t *testing.T) {
	t.Parallel()
	want := []byte("right")
	for _, test := range []struct {
		name       string
		candidates [][]byte
		want       bool
	}{
		{"none", nil, false},
		{"empty", [][]byte{{}}, false},
		{"wrong", [][]byte{[]byte("wrong")}, false},
		{"a prefix", [][]byte{[]byte("righ")}, false},
		{"the last of three", [][]byte{[]byte("wrong"), nil, []byte("right")}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := providerhttp.Match(want, test.candidates); got != test.want {
				t.Errorf("Match = %v, want %v", got, test.want)
			}
		})
	}
}
