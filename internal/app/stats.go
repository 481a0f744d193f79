package app

import (
	"context"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/telemetry"
)

// stats reads the ledger's counts as metrics.
type stats struct{ ledger *ledger.Ledger }

// Stats reads what is waiting. Orders that have come to their end are not counted: that would cost more with every sale.
func (s stats) Stats(ctx context.Context) (telemetry.Stats, error) {
	w, err := s.ledger.Waits(ctx)
	if err != nil {
		return telemetry.Stats{}, err
	}
	out := telemetry.Stats{
		Orders: map[telemetry.FactState]int64{
			{Fact: "payment", State: string(order.PaymentPending)}: w.PaymentPending,
			{Fact: "payment", State: string(order.PaymentIgnored)}: w.Ignored,
			{Fact: "access", State: string(order.AccessPending)}:   w.Open[string(ledger.KindAccess)],
			{Fact: "email", State: string(order.EmailPending)}:     w.Open[string(ledger.KindEmail)],
		},
		OldestPendingSeconds:      w.OldestOpenSeconds,
		UndispatchedEvents:        w.Undispatched,
		OldestUndispatchedSeconds: w.OldestUndispatchedSeconds,
	}
	if out.ReconciledAt, err = s.ledger.ReconciledAt(ctx); err != nil {
		return telemetry.Stats{}, err
	}
	out.Known = map[telemetry.ProviderList]time.Time{}
	for environment, at := range w.Known {
		out.Known[telemetry.ProviderList{Environment: environment, List: "sales"}] = at.Until
		out.Known[telemetry.ProviderList{Environment: environment, List: "reversals"}] = at.ReversalsUntil
	}
	for reason, n := range w.Attention {
		out.Attention += n
		if step := order.Reason(reason).Step(); step != "" {
			out.Orders[telemetry.FactState{Fact: string(step), State: "needs_attention"}] += n
		}
	}
	return out, nil
}
