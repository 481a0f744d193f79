package missed

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

var now = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)

// shop is a ledger that knows nothing, a provider with one sale, and Temporal.
type shop struct {
	payment.Provider
	facts    payment.Facts
	imported int
	until    time.Time
	reversed []order.Reversed
	failed   error
	reviewed int
}

func (s *shop) SyncWindow(context.Context, string) (ledger.SyncWindow, error) {
	return ledger.SyncWindow{From: now.Add(-48 * time.Hour), Until: now.Add(-10 * time.Minute), ReversalsUntil: now.Add(-10 * time.Minute)}, nil
}

func (s *shop) AdvanceHighWater(_ context.Context, _ string, until time.Time) error {
	s.until = until
	return nil
}

func (s *shop) UnknownSales(_ context.Context, _ string, sales []order.Sale) ([]order.Sale, error) {
	return sales, nil
}

func (s *shop) ImportSale(_ context.Context, _ order.Key, found ledger.Found) error {
	if found == ledger.FoundByReconcile {
		s.imported++
	}
	return nil
}

func (s *shop) RecordPayment(context.Context, order.Assessment) (order.Snapshot, error) {
	return order.Snapshot{}, nil
}
func (s *shop) AdvanceReversals(_ context.Context, _ string, until time.Time) error {
	s.until = until
	return nil
}

func (s *shop) ReversalsSince(context.Context, time.Time, string) ([]order.Reversed, string, error) {
	return s.reversed, "", s.failed
}

// UnreadReversals knows of nothing that is on the list.
func (s *shop) UnreadReversals(_ context.Context, _ string, list []order.Reversed) (keys []order.Key, err error) {
	for _, r := range list {
		keys = append(keys, order.Key{Environment: "live", Session: "cs_of_" + r.Ref})
	}
	return keys, nil
}

func (s *shop) ReversalMissed(context.Context, order.Key) error { s.imported++; return nil }

func (s *shop) Review(context.Context, order.Key) error { s.reviewed++; return nil }

func (s *shop) Ensure(context.Context, order.Key) error { return nil }
func (s *shop) ValidSession(string) bool                { return true }
func (s *shop) Session(context.Context, string) (payment.Facts, error) {
	return s.facts, nil
}

func (s *shop) PaidSessions(context.Context, time.Time, string) ([]order.Sale, string, error) {
	return []order.Sale{{Session: "cs_live_1", Kind: order.SessionPayment, At: s.facts.Created}}, "", nil
}

// A sale of this moment is left to its webhook, and found by a later run.
func TestFreshSaleIsLeftToItsWebhook(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		created, paid time.Duration // ago; 0 for not known
		since         time.Duration
		repaired      int
	}{
		"paid a minute ago":                    {created: time.Hour, paid: time.Minute},
		"paid three minutes ago":               {created: time.Hour, paid: 3 * time.Minute, repaired: 1},
		"nothing to pay, made a minute ago":    {created: time.Minute},
		"nothing to pay, made five ago":        {created: 5 * time.Minute, repaired: 1},
		"paid a minute ago, a person asks":     {created: time.Hour, paid: time.Minute, since: 2 * time.Hour, repaired: 1},
		"paid by the provider's clock, ahead":  {created: time.Hour, paid: -time.Minute},
		"paid an hour after it was made, late": {created: 2 * time.Hour, paid: time.Hour, repaired: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shop{facts: payment.Facts{
				Session: "cs_live_1", Created: now.Add(-c.created), Mode: order.Live, Kind: order.SessionPayment, Status: payment.StatusPaid,
				Items: []order.Item{{Line: 1, Refs: []string{"price_guide"}, Quantity: 1}},
			}}
			if c.paid != 0 {
				s.facts.PaidAt = now.Add(-c.paid)
			}
			sales := &Sales{
				Ledger: s, Runs: s, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: func() time.Time { return now },
				Catalogue: order.NewCatalogue([]order.Product{{ID: "guide", SoldAs: []string{"price_guide"}, Access: []order.AccessSpec{{Kind: "license"}}}}),
				Pause:     func(context.Context, time.Duration) error { return nil },
			}
			r, err := sales.Run(t.Context(), Environment{Name: "live", Mode: order.Live, Provider: s}, Options{Since: c.since})
			if err != nil || r.Checked != 1 || r.Repaired != c.repaired || s.imported != c.repaired || r.Left != 0 {
				t.Fatalf("%+v, %v", r, err)
			}
			if advanced := !s.until.IsZero(); c.since == 0 && advanced != (c.repaired == 1) {
				t.Errorf("the high-water mark moved: %v", advanced)
			}
		})
	}
}

// Refunds and disputes that nobody reported are read. A fresh one is left to its webhook, and the high-water mark does not
// pass it; it moves on behind a list that was read to its end, and not otherwise.
func TestMissedReversalsAreRead(t *testing.T) {
	t.Parallel()
	refund := func(ago time.Duration) order.Reversed { return order.Reversed{Ref: "pi_1", At: now.Add(-ago)} }
	for name, c := range map[string]struct {
		list    []order.Reversed
		o       Options
		failed  error
		want    Reversals
		read    int
		advance time.Duration // to how long ago; -1 for not at all
	}{
		"nothing":                 {advance: 0},
		"one":                     {list: []order.Reversed{refund(5 * time.Minute)}, want: Reversals{Checked: 1, Repaired: 1}, read: 1},
		"one of this moment":      {list: []order.Reversed{refund(time.Minute)}, want: Reversals{Checked: 1}, advance: 2 * time.Minute},
		"a person asks":           {list: []order.Reversed{refund(time.Minute)}, o: Options{Since: time.Hour}, want: Reversals{Checked: 1, Repaired: 1}, read: 1},
		"far back":                {list: []order.Reversed{refund(50 * time.Hour)}, o: Options{Since: 72 * time.Hour}, want: Reversals{Checked: 1, Repaired: 1}, read: 1},
		"not far enough back":     {o: Options{Since: time.Minute}, advance: -1},
		"a dry run":               {list: []order.Reversed{refund(5 * time.Minute)}, o: Options{DryRun: true}, want: Reversals{Checked: 1, Repaired: 1}, advance: -1},
		"of no known time":        {list: []order.Reversed{{Ref: "ord_1", Refunded: 100}}, want: Reversals{Checked: 1, Repaired: 1}, read: 1},
		"the provider is away":    {failed: &payment.APIError{}, want: Reversals{Problem: order.ClassRetry}, advance: -1},
		"the provider refuses us": {failed: &payment.APIError{Status: 401}, want: Reversals{Problem: order.ClassMisconfigured}, advance: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shop{reversed: c.list, failed: c.failed}
			sales := &Sales{Ledger: s, Runs: s, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
				Pause: func(context.Context, time.Duration) error { return nil }}
			r, err := sales.Reversals(t.Context(), Environment{Name: "live", Mode: order.Live, Provider: s}, c.o)
			r.Since, r.CompleteUntil = time.Time{}, time.Time{}
			if err != nil || r != c.want || s.imported != c.read || s.reviewed != c.read {
				t.Errorf("%+v, %v; %d noted, %d read", r, err, s.imported, s.reviewed)
			}
			want := now.Add(-c.advance)
			if c.advance < 0 {
				want = time.Time{}
			}
			if !s.until.Equal(want) {
				t.Errorf("the high-water mark is at %v, want %v", s.until, want)
			}
		})
	}
}
