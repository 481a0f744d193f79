package payment_test

import (
	"testing"

	"handover/internal/order"
	"handover/internal/payment"
)

func catalogue() *order.Catalogue {
	return order.NewCatalogue([]order.Product{
		{ID: "guide", Name: "The Guide", SoldAs: []string{"price_guide"}, Access: []order.AccessSpec{{Kind: "download", File: "guide.pdf"}}},
		{ID: "shirt", Name: "A shirt", SoldAs: []string{"price_shirt"}},
		{ID: "maps", Name: "The Maps", SoldAs: []string{"price_maps"}, Access: []order.AccessSpec{{Kind: "license"}}},
	})
}

func item(line int, ref string, quantity int64) order.Item {
	return order.Item{Line: line, Refs: []string{ref}, Name: "as sold", Quantity: quantity}
}

func TestWhatTheProviderProvesIsJudged(t *testing.T) {
	t.Parallel()
	ours := []order.Item{item(1, "price_guide", 1)}
	for name, c := range map[string]struct {
		change     func(*payment.Facts)
		state      order.PaymentState
		reason     order.Reason
		dues       int
		processing bool
	}{
		"paid":         {func(*payment.Facts) {}, order.PaymentConfirmed, "", 1, false},
		"nothing due":  {func(f *payment.Facts) { f.Status, f.Total.Minor = payment.StatusFree, 0 }, order.PaymentConfirmed, "", 1, false},
		"open":         {func(f *payment.Facts) { f.Status = payment.StatusOpen }, order.PaymentPending, "", 0, false},
		"a voucher":    {func(f *payment.Facts) { f.Status = payment.StatusToPay }, order.PaymentPending, "", 0, true},
		"on its way":   {func(f *payment.Facts) { f.Status = payment.StatusProcessing }, order.PaymentPending, "", 0, true},
		"failed":       {func(f *payment.Facts) { f.Status = payment.StatusFailed }, order.PaymentFailed, "", 0, false},
		"expired":      {func(f *payment.Facts) { f.Status = payment.StatusExpired }, order.PaymentFailed, "", 0, false},
		"unknown word": {func(f *payment.Facts) { f.Status = "new" }, order.PaymentPending, "", 0, false},
		"subscription": {func(f *payment.Facts) { f.Kind = order.SessionOther }, order.PaymentIgnored, "", 0, false},
		"live session in a test environment": {
			func(f *payment.Facts) { f.Mode = order.Live }, order.PaymentAttention, order.ReasonModeContradicts, 0, false},
		"live subscription in a test environment": {
			func(f *payment.Facts) { f.Mode, f.Kind = order.Live, order.SessionOther }, order.PaymentAttention, order.ReasonModeContradicts, 0, false},
		"nothing of ours":         {func(f *payment.Facts) { f.Items = []order.Item{item(1, "price_other", 1)} }, order.PaymentIgnored, "", 0, false},
		"nothing to deliver here": {func(f *payment.Facts) { f.Items = []order.Item{item(1, "price_shirt", 1)} }, order.PaymentIgnored, "", 0, false},
		"some to be delivered by another": {func(f *payment.Facts) { f.Items = append(f.Items, item(2, "price_shirt", 2)) },
			order.PaymentConfirmed, "", 1, false},
		"some by another, some unknown": {func(f *payment.Facts) {
			f.Items = append(f.Items, item(2, "price_shirt", 2), item(3, "price_other", 1))
		},
			order.PaymentConfirmed, order.ReasonItemsUnknown, 0, false},
		"no items": {func(f *payment.Facts) { f.Items = nil }, order.PaymentConfirmed, order.ReasonItemsUnknown, 0, false},
		"some not ours": {func(f *payment.Facts) { f.Items = append(f.Items, item(2, "price_other", 1)) },
			order.PaymentConfirmed, order.ReasonItemsUnknown, 0, false},
		"nothing of ours, unpaid": {func(f *payment.Facts) { f.Items, f.Status = nil, payment.StatusOpen }, order.PaymentPending, "", 0, false},
		"two of ours":             {func(f *payment.Facts) { f.Items = append(f.Items, item(2, "price_maps", 3)) }, order.PaymentConfirmed, "", 2, false},
		"one of ours twice":       {func(f *payment.Facts) { f.Items = append(f.Items, item(2, "price_guide", 1)) }, order.PaymentConfirmed, "", 1, false},
		"another amount":          {func(f *payment.Facts) { f.Total = order.Money{Minor: 1, Currency: "jpy"} }, order.PaymentConfirmed, "", 1, false},
		"no address":              {func(f *payment.Facts) { f.Email = "" }, order.PaymentConfirmed, order.ReasonNoAddress, 1, false},
		"address that is none":    {func(f *payment.Facts) { f.Email = "alex at example" }, order.PaymentConfirmed, order.ReasonNoAddress, 1, false},
		"address with a line end": {func(f *payment.Facts) { f.Email = "alex@example.com\r\nBcc: eve@example.com" },
			order.PaymentConfirmed, order.ReasonNoAddress, 1, false},
		"two addresses": {func(f *payment.Facts) { f.Email = "alex@example.com, eve@example.com" }, order.PaymentConfirmed, order.ReasonNoAddress, 1, false},
		"unknown items and no address": {func(f *payment.Facts) { f.Items, f.Email = append(f.Items, item(2, "price_other", 1)), "" },
			order.PaymentConfirmed, order.ReasonItemsUnknown, 0, false},
	} {
		facts := payment.Facts{
			Session: "cs_1", Mode: order.Test, Kind: order.SessionPayment, Status: payment.StatusPaid, PaymentRef: "pi_1",
			Total: order.Money{Minor: 1200, Currency: "eur"}, Email: "alex@example.com", Name: "Alex", Items: append([]order.Item(nil), ours...),
		}
		c.change(&facts)
		got := payment.Assess(order.Key{Environment: "test", Session: "cs_1"}, order.Test, catalogue(), facts)
		if got.State != c.state || got.Reason != c.reason || len(got.Entitlements) != c.dues || got.Processing != c.processing {
			t.Errorf("%s: %s, reason %q, %d dues, processing %v; want %s, %q, %d, %v",
				name, got.State, got.Reason, len(got.Entitlements), got.Processing, c.state, c.reason, c.dues, c.processing)
		}
		if (got.Reason != "") != (got.Class == order.ClassPermanent) {
			t.Errorf("%s: reason %q with class %q", name, got.Reason, got.Class)
		}
		if got.Reason == order.ReasonNoAddress && got.Email != "" {
			t.Errorf("%s: %q is kept as an address", name, got.Email)
		}
	}
}

func TestOddAddressesStayAsTheBuyerTypedThem(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"Alex.Rivers+guide@Example.COM", `"alex rivers"@example.com`, "o'neil@example.co.uk", "алекс@example.com", "alex@sub.пример.рф", "a@b",
	} {
		got := payment.Assess(order.Key{Environment: "test", Session: "cs_1"}, order.Test, catalogue(), payment.Facts{
			Mode: order.Test, Kind: order.SessionPayment, Status: payment.StatusPaid, Email: " " + address + " ", Items: []order.Item{item(1, "price_guide", 1)},
		})
		if got.Email != address || got.Reason != "" {
			t.Errorf("%q became %q, reason %q", address, got.Email, got.Reason)
		}
	}
}
