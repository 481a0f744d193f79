package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"

	"handover/internal/config"
	"handover/internal/dispatch"
	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/recovery"
	"handover/internal/telemetry"
	"handover/internal/temporalclient"
)

// callTimeout bounds one call to Temporal.
const callTimeout = 10 * time.Second

// mostOrders bounds how many orders one command changes.
const mostOrders = 10_000

// dispatcher is Temporal as the commands use it.
type dispatcher interface {
	recovery.Runs
	Ask(ctx context.Context, r order.Request) error
	Replay(ctx context.Context, key order.Key) error
}

// dialer connects to Temporal. The function that it returns closes the connection.
type dialer func(context.Context, *ledger.Ledger, config.Process) (dispatcher, func(), error)

func dialTemporal(ctx context.Context, l *ledger.Ledger, settings config.Process) (dispatcher, func(), error) {
	log := telemetry.Logger(io.Discard)
	temporal, options, err := temporalclient.Connect(nil, log, "starter")
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	known, err := l.Installation(ctx) // an order on another task queue would wait for ever, whatever the shell says
	if err != nil {
		temporal.Close()
		return nil, nil, err
	}
	d := dispatch.New(temporal, l, log)
	d.UseQueue(cmp.Or(known.TaskQueue, settings.TaskQueue, config.DefaultTaskQueue))
	d.UseAttributes(temporalclient.HasAttributes(ctx, temporal, options.Namespace))
	return d, temporal.Close, nil
}

// connection is a console with its ledger, and with Temporal from the first call on that needs it.
type connection struct {
	*console
	settings config.Process
	ledger   *ledger.Ledger
	runs     dispatcher
	hangUp   func()
}

func (cn *connection) dispatcher() (dispatcher, error) {
	if cn.runs == nil {
		runs, hangUp, err := cn.dial(cn.ctx, cn.ledger, cn.settings)
		if err != nil {
			return nil, err
		}
		cn.runs, cn.hangUp = runs, hangUp
	}
	return cn.runs, nil
}

// call makes one call to Temporal. Its errors name the settings to check.
func (cn *connection) call(f func(context.Context, dispatcher) error) error {
	runs, err := cn.dispatcher()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cn.ctx, callTimeout)
	defer cancel()
	return temporalclient.Explain(f(ctx, runs))
}

// newRequest is an operator's request of that kind.
func (c *console) newRequest(kind, reason string) (order.Request, error) {
	r := order.Request{Kind: kind, Who: c.who, Why: strings.TrimSpace(reason)}
	if r.Why == "" || len(r.Why) > 500 {
		return r, fmt.Errorf("%w: --reason takes a text of 1 to 500 bytes", errUsage)
	}
	if strings.Contains(r.Why, "@") {
		return r, fmt.Errorf("%w: --reason must not hold an address, because it would stay in Temporal's history", errUsage)
	}
	return r, nil
}

// address is the value of a flag that takes an address. A dash reads it from standard input, because a command line is
// seen by others on the machine and kept in the shell's history.
func (c *console) address(flag, value string) (string, error) {
	if value == "-" {
		line, err := bufio.NewReader(io.LimitReader(c.In, 1000)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		value = line
	}
	if value = strings.TrimSpace(value); value == "" {
		return "", fmt.Errorf("%w: %s takes an address", errUsage, flag)
	}
	return value, nil
}

// ask stores a request, signals it to the order's workflow and waits for the decision of a worker. A request that cannot
// be signalled is dispatched by starter serve later.
func (cn *connection) ask(r order.Request, key order.Key) (answer, error) {
	r.Key, r.ID = key, "starter/"+uuid.NewString()
	a := answer{Order: key.String(), Outcome: outcomeWaiting}
	if err := cn.ledger.StoreRequest(cn.ctx, r); err != nil {
		return a, err
	}

	err := cn.call(func(ctx context.Context, d dispatcher) error { return d.Ask(ctx, r) })
	if err != nil {
		fmt.Fprintf(cn.Err, "starter: %v; the request is stored, and starter serve dispatches it when that is fixed\n", err)
		a.undispatched = true
		return a, nil
	}

	_, err = await(cn.ctx, cn.wait, func() (bool, error) {
		d, decided, err := cn.ledger.Decided(cn.ctx, r)
		if decided {
			a.Outcome, a.Refusal, a.Generation = d.Outcome, d.Refusal, d.Generation
		}
		return decided, err
	})
	return a, err
}

// selectOrders reads the order of that name, or all that the filter finds. Exactly one of the two is to be given; usage
// says so.
func (cn *connection) selectOrders(name string, filter *ledger.Filter) ([]order.View, error) {
	if filter != nil {
		if filter.Limit = mostOrders; filter.Unreached {
			filter.UnreachedAfter = cn.unreachedAfter()
		}
		return cn.ledger.List(cn.ctx, *filter)
	}
	v, err := cn.readOrder(name)
	return []order.View{v}, err
}
