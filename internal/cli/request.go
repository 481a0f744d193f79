package cli

import (
	"context"
	"fmt"
	"os/user"
	"strings"

	"github.com/google/uuid"

	"handover/internal/dispatch"
	"handover/internal/ledger"
	"handover/internal/order"
)

// newRequest is an operator's request with an identity of its own, for an order that is still to be named.
func newRequest(kind, reason string) (order.Request, error) {
	r := order.Request{ID: "starter/" + uuid.NewString(), Kind: kind, Who: whoami(), Why: strings.TrimSpace(reason)}
	if r.Why == "" || len(r.Why) > 500 {
		return r, fmt.Errorf("%w: --reason takes a text of 1 to 500 bytes", errUsage)
	}
	if strings.Contains(r.Why, "@") {
		return r, fmt.Errorf("%w: --reason must not hold an address, it would stay in Temporal's history", errUsage)
	}
	return r, nil
}

// whoami is the operator's name for the audit.
func whoami() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "operator"
}

// file stores the request and signals it to the order's workflow. What cannot be signalled now is signalled by the
// starter's server later, so the request is not lost: only the way there is told.
func (c *console) file(l *ledger.Ledger, r order.Request) (handedOver bool, err error) {
	if err := l.StoreRequest(c.ctx, r); err != nil {
		return false, err
	}
	err = c.withDispatcher(l, func(ctx context.Context, d *dispatch.Dispatcher) error { return d.Ask(ctx, r) })
	if err != nil {
		fmt.Fprintf(c.errs, "starter: %v; the request is stored, and starter serve hands it over when that is mended\n", err)
		return false, nil
	}
	return true, nil
}
