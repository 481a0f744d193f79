package visit

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

var (
	key    = order.Key{Environment: "live", Session: "cs_live_1"}
	served = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
)

// shop is a ledger, a provider and Temporal, and what was asked of them.
type shop struct {
	payment.Provider
	mu      sync.Mutex
	known   *order.PaymentState // nil while nobody has reported the session
	checked time.Duration       // how long ago a worker asked the provider; 0 for never
	pending bool                // a webhook is on its way to a worker
	facts   payment.Facts
	err     error
	from    time.Time
	calls   int
	did     []string
}

func newShop() *shop {
	return &shop{from: served, checked: time.Hour, facts: payment.Facts{
		Session: key.Session, Created: served.Add(time.Hour), Mode: order.Live, Kind: order.SessionPayment, Status: payment.StatusPaid,
		Items: []order.Item{{Line: 1, Refs: []string{"price_guide"}, Quantity: 1}},
	}}
}

func (s *shop) visits(ctx context.Context) *Visits {
	catalogue := order.NewCatalogue([]order.Product{{ID: "guide", SoldAs: []string{"price_guide"}, Access: []order.AccessSpec{{Kind: "license"}}}})
	v := &Visits{Ledger: s, Runs: s, Environments: map[string]Environment{"live": {Mode: order.Live, Provider: s}}, Catalogue: catalogue,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	return v.Open(ctx)
}

func (s *shop) note(what string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.did = append(s.did, what)
	return nil
}

func (s *shop) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *shop) Order(context.Context, order.Key) (order.View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		return order.View{}, ledger.ErrNotFound
	}
	v := order.View{Facts: order.Facts{Payment: *s.known}}
	if s.checked != 0 {
		at := time.Now().Add(-s.checked)
		v.CheckedAt = &at
	}
	return v, nil
}

func (s *shop) EventPending(context.Context, order.Key) (bool, error) { return s.pending, nil }

// asked is how often the provider was asked, and what was done.
func (s *shop) asked() (int, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls, s.did
}

func (s *shop) SyncWindow(context.Context, string) (ledger.SyncWindow, error) {
	return ledger.SyncWindow{From: s.from}, nil
}

func (s *shop) Session(context.Context, string) (payment.Facts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return s.facts, s.err
}

func (s *shop) ImportSale(_ context.Context, _ order.Key, found ledger.Found) error {
	return s.note("import " + string(found))
}

func (s *shop) RecordPayment(_ context.Context, p order.Assessment) (order.Snapshot, error) {
	return order.Snapshot{}, s.note("record " + string(p.State))
}
func (s *shop) Ensure(context.Context, order.Key) error { return s.note("start") }
func (s *shop) Replay(context.Context, order.Key) error { return s.note("signal") }

func TestVisitFindsWhatWasPaidAndNobodyReported(t *testing.T) {
	t.Parallel()
	pending, confirmed := order.PaymentPending, order.PaymentConfirmed
	for name, c := range map[string]struct {
		change func(*shop)
		calls  int
		did    []string
	}{
		"paid":                             {func(*shop) {}, 1, []string{"import page", "start"}},
		"the webhook came":                 {func(s *shop) { s.known = &confirmed }, 0, nil},
		"reported, and paid by now":        {func(s *shop) { s.known = &pending }, 1, []string{"import page", "signal"}},
		"reported, on its way to a worker": {func(s *shop) { s.known, s.checked = &pending, 0 }, 0, nil},
		"reported, and checked just now":   {func(s *shop) { s.known, s.checked = &pending, time.Second }, 0, nil},
		"reported again":                   {func(s *shop) { s.known, s.pending = &pending, true }, 0, nil},
		"reported, and failed":             {func(s *shop) { s.known, s.facts.Status = &pending, payment.StatusFailed }, 1, []string{"signal"}},
		"reported, and still unpaid":       {func(s *shop) { s.known, s.facts.Status = &pending, payment.StatusProcessing }, 1, nil},
		"not paid":                         {func(s *shop) { s.facts.Status = payment.StatusOpen }, 1, nil},
		"not ours":                         {func(s *shop) { s.facts.Items[0].Refs = []string{"price_other"} }, 1, []string{"record ignored"}},
		"from before":                      {func(s *shop) { s.facts.Created = served.Add(-time.Minute) }, 1, nil},
		"never served":                     {func(s *shop) { s.from = time.Time{} }, 1, nil},
		"of no known time":                 {func(s *shop) { s.facts.Created = time.Time{} }, 1, nil},
		"unknown to the provider":          {func(s *shop) { s.err = &payment.APIError{Status: 404} }, 1, nil},
		"the provider is away":             {func(s *shop) { s.err = &payment.APIError{} }, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShop()
				c.change(s)
				v := s.visits(t.Context())
				for range 4 { // the page asks again and again
					v.Seen(key, "198.51.100.1")
					time.Sleep(500 * time.Millisecond)
				}
				synctest.Wait()
				if calls, did := s.asked(); calls != c.calls || !slices.Equal(did, c.did) {
					t.Errorf("%d calls, did %v; want %d, %v", calls, did, c.calls, c.did)
				}
			})
		})
	}
}

func TestWebhookThatComesInTimeCausesNoCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShop()
		v := s.visits(t.Context())
		v.Seen(key, "198.51.100.1")
		time.Sleep(time.Second)
		confirmed := order.PaymentConfirmed
		s.set(func() { s.known = &confirmed })
		time.Sleep(time.Minute)
		if calls, _ := s.asked(); calls != 0 {
			t.Errorf("%d calls", calls)
		}
	})
}

func TestSessionThatStaysUnpaidIsAskedForLessAndLess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShop()
		s.facts.Status = payment.StatusProcessing
		v := s.visits(t.Context())
		var at []time.Duration
		for began, last := time.Now(), 0; time.Since(began) < time.Hour; {
			v.Seen(key, "198.51.100.1")
			time.Sleep(time.Second)
			synctest.Wait()
			if calls, _ := s.asked(); calls > last {
				last = calls
				at = append(at, time.Since(began).Round(time.Second))
			}
		}
		if len(at) < 3 || at[0] > 3*time.Second || at[1]-at[0] < 10*time.Second || at[1]-at[0] > 12*time.Second || len(at) > 14 {
			t.Errorf("asked at %v", at)
		}
		if last := at[len(at)-1] - at[len(at)-2]; last > 10*time.Minute+2*time.Second {
			t.Errorf("the last pause is %s", last)
		}
	})
}

func TestFloodIsBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		client func(i int) string
		most   int
	}{
		"of one client":  {func(int) string { return "198.51.100.1" }, 10},
		"of many":        {func(i int) string { return fmt.Sprint(i) }, 60},
		"for one id":     {nil, 1},
		"unknown, again": {nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShop()
				s.err = &payment.APIError{Status: 404}
				v := s.visits(t.Context())
				for i := range 500 {
					k, client := key, "198.51.100.1"
					if c.client != nil {
						k.Session, client = fmt.Sprintf("cs_live_%d", i), c.client(i)
					}
					v.Seen(k, client)
					time.Sleep(100 * time.Millisecond)
				}
				synctest.Wait()
				if calls, _ := s.asked(); calls > c.most || calls == 0 {
					t.Errorf("%d calls, want at most %d", calls, c.most)
				}
			})
		})
	}
}
