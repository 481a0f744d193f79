package soak

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"

	"handover/internal/lab/harness"
	"handover/internal/ledger"
	"handover/internal/order"
)

// mostEvidence bounds how many orders' stories are kept.
const mostEvidence = 20

// keepEvidence writes down, for each order with a violation, all that is known of it: the plan, the records, the ledger's
// view with its audit, and the workflow's newest history.
func (r *run) keepEvidence(ctx context.Context, all []Facts, found []Violation) {
	if len(found) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	pool, err := ledger.Connect(ctx, r.servers.DatabaseURL)
	if err != nil {
		return
	}
	defer pool.Close()
	dir := filepath.Join(r.o.Dir, "evidence")
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	kept := map[string]bool{}
	for _, v := range found {
		i := slices.IndexFunc(all, func(f Facts) bool { return f.key() == v.Order })
		if i < 0 || kept[v.Order] || len(kept) == mostEvidence {
			continue
		}
		kept[v.Order] = true
		f := all[i]
		audit, _ := ledger.New(pool).Audit(ctx, order.Key{Environment: "test", Session: f.Order.Session})
		text, err := json.MarshalIndent(map[string]any{"violations": of(found, v.Order), "facts": f, "audit": audit}, "", "  ")
		if err != nil {
			continue
		}
		story := filepath.Join(dir, f.Order.Session)
		_ = os.WriteFile(story+".json", text, 0o600)
		if history := r.history(ctx, f.Order.Session); history != "" {
			_ = os.WriteFile(story+".history", []byte(history), 0o600)
		}
	}
}

// of are one order's violations.
func of(found []Violation, key string) []Violation {
	return slices.DeleteFunc(slices.Clone(found), func(v Violation) bool { return v.Order != key })
}

// history is the newest run's, one line an event.
func (r *run) history(ctx context.Context, session string) string {
	var b strings.Builder
	events := r.shop.Temporal.GetWorkflowHistory(ctx, harness.WorkflowID(session), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return b.String()
		}
		b.WriteString(event.String() + "\n")
	}
	return b.String()
}
