package order

import (
	"fmt"
	"strings"
)

// Money is an amount in the currency's minor units (cents, yen, fils).
type Money struct {
	Minor    int64
	Currency string // ISO 4217, any letter case
}

// The currencies whose amounts do not come with two decimals, as Stripe counts them. That is not always how many the
// currency has: ISK and UGX have none and arrive multiplied by 100, as HUF and TWD do, and MGA arrives in whole units
// (https://docs.stripe.com/currencies#special-cases and #zero-decimal).
var (
	zeroDecimals  = set("BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF")
	threeDecimals = set("BHD IQD JOD KWD LYD OMR TND")
	symbols       = map[string]string{"EUR": "€", "GBP": "£", "USD": "$", "JPY": "¥"}
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// String shows the amount as people write it: "€12.00", "¥800", "KWD 0.800".
func (m Money) String() string {
	currency := strings.ToUpper(m.Currency)
	if currency == "" {
		return ""
	}
	sign, minor := "", uint64(m.Minor)
	if m.Minor < 0 {
		sign, minor = "-", -minor // as unsigned, the smallest number has a positive too
	}
	digits := fmt.Sprintf("%d.%02d", minor/100, minor%100)
	switch {
	case zeroDecimals[currency]:
		digits = fmt.Sprintf("%d", minor)
	case threeDecimals[currency]:
		digits = fmt.Sprintf("%d.%03d", minor/1000, minor%1000)
	}
	if symbol, found := symbols[currency]; found {
		return sign + symbol + digits
	}
	return sign + currency + " " + digits
}
