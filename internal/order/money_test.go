package order_test

import (
	"math"
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"handover/internal/order"
)

func TestMoneyIsWrittenAsPeopleDo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		minor    int64
		currency string
		want     string
	}{
		{1200, "eur", "€12.00"},
		{5, "EUR", "€0.05"},
		{0, "usd", "$0.00"},
		{-1999, "gbp", "-£19.99"},
		{-5, "eur", "-€0.05"},
		{123456789, "chf", "CHF 1234567.89"},
		{800, "jpy", "¥800"},
		{-800, "jpy", "-¥800"},
		{1000, "krw", "KRW 1000"},
		{800, "kwd", "KWD 0.800"},
		{5120, "BHD", "BHD 5.120"},
		{-5, "tnd", "-TND 0.005"},
		// Charged with two decimals, whatever the coins of the country are: https://docs.stripe.com/currencies#special-cases
		{500, "isk", "ISK 5.00"},
		{500, "ugx", "UGX 5.00"},
		{1045, "huf", "HUF 10.45"},
		{80045, "twd", "TWD 800.45"},
		{500, "mga", "MGA 500"},
		{1, "", ""},
	}
	for _, test := range tests {
		if got := (order.Money{Minor: test.minor, Currency: test.currency}).String(); got != test.want {
			t.Errorf("%d %s is written %q, want %q", test.minor, test.currency, got, test.want)
		}
	}
}

func TestNoAmountIsWrittenStrangely(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(`^-?(€|£|\$|¥|[A-Z]{3} )[0-9]+(\.[0-9]{2,3})?$`)
	rapid.Check(t, func(t *rapid.T) {
		m := order.Money{
			Minor:    rapid.OneOf(rapid.Int64(), rapid.Just(int64(math.MinInt64))).Draw(t, "minor"),
			Currency: rapid.StringMatching(`[a-zA-Z]{3}`).Draw(t, "currency"),
		}
		if got := m.String(); !pattern.MatchString(got) {
			t.Fatalf("%d %s is written %q", m.Minor, m.Currency, got)
		}
	})
}
