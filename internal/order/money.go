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

// Decimals of the currencies that do not have two, as ISO 4217 has them. Stripe charges ISK and UGX as if they had two
// although they have none (https://docs.stripe.com/currencies#special-cases): their amounts arrive multiplied by 100.
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
	sign, minor := "", m.Minor
	if minor < 0 {
		sign, minor = "-", -minor
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
