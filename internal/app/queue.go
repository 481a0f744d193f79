package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handover/internal/config"
	"handover/internal/ledger"
	"handover/internal/temporalclient"
)

// SettleTaskQueue decides on which task queue this process works: the one that TASK_QUEUE says, else the one that the ledger
// knows. A worker on another queue than the ledger knows is refused while orders run there, because nobody would carry them
// out; so is one on a queue that a living worker of another installation polls.
func (p *Process) SettleTaskQueue(ctx context.Context) (ledger.Installation, error) {
	known, err := p.Ledger.Installation(ctx)
	if err != nil {
		return known, err
	}
	queue := cmp.Or(p.Settings.TaskQueue, known.TaskQueue, config.DefaultTaskQueue)
	if queue != known.TaskQueue {
		moved, err := p.moveTaskQueue(ctx, known.TaskQueue, queue)
		if err != nil {
			return known, err
		}
		if !moved { // another process has said it in this moment
			return p.SettleTaskQueue(ctx)
		}
	}
	known.TaskQueue = queue
	err = temporalclient.ClaimQueue(ctx, p.Temporal, queue, known.ID)
	if errors.Is(err, temporalclient.ErrQueueTaken) {
		err = refused("%w: set TASK_QUEUE to a name of its own", err)
	}
	return known, err
}

// refusal is an error that waiting does not change.
type refusal struct{ error }

func refused(format string, args ...any) error { return refusal{fmt.Errorf(format, args...)} }

func (p *Process) moveTaskQueue(ctx context.Context, from, to string) (moved bool, err error) {
	if from != "" {
		open, err := temporalclient.OpenOrders(ctx, p.Temporal, from)
		if err != nil {
			return false, err
		}
		if open > 0 {
			return false, refused("TASK_QUEUE is %s, and %d orders run on %s, where nobody would carry them out: set TASK_QUEUE=%[3]s again, or leave it unset", to, open, from)
		}
	}
	return p.Ledger.MoveTaskQueue(ctx, from, to)
}

// KnownTaskQueue is the task queue on which orders run, for a process that carries out none: the one that the ledger knows,
// whatever TASK_QUEUE says, because an order on another would wait for ever.
func (p *Process) KnownTaskQueue(ctx context.Context) (string, error) {
	known, err := p.Ledger.Installation(ctx)
	if err != nil {
		return "", err
	}
	if known.TaskQueue == "" {
		queue := cmp.Or(p.Settings.TaskQueue, config.DefaultTaskQueue)
		if moved, err := p.Ledger.MoveTaskQueue(ctx, "", queue); err != nil || moved {
			return queue, err
		}
		return p.KnownTaskQueue(ctx)
	}
	if asked := p.Settings.TaskQueue; asked != "" && asked != known.TaskQueue {
		p.Log.WarnContext(ctx, "TASK_QUEUE is not where the orders run, and is not used", "task_queue", asked, "used", known.TaskQueue)
	}
	return known.TaskQueue, nil
}

// ServeEnvironments notes which environments a worker serves from now on. It refuses one whose configuration lacks an
// environment that has orders in progress, because it would stop each of them as misconfigured.
func (p *Process) ServeEnvironments(ctx context.Context) error {
	open, err := p.Ledger.OpenEnvironments(ctx)
	if err != nil {
		return err
	}
	unknown := slices.DeleteFunc(open, func(name string) bool { _, known := p.Config.Environments[name]; return known })
	if len(unknown) > 0 {
		return refused("there are orders in progress of environments that %s does not have: %s; write [environments.%s] again until they are done (starter list --pending)",
			p.Settings.ConfigPath, strings.Join(unknown, ", "), unknown[0])
	}
	for name := range p.Config.Environments {
		if err := p.Ledger.StartSync(ctx, name); err != nil {
			return err
		}
	}
	return nil
}
