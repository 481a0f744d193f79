package soak

import (
	"context"
	"fmt"
	"syscall"

	"handover/internal/lab/await"
	"handover/internal/lab/stack"
)

// others are the second starter and the second worker. Their schedules replace them.
type others struct{ starter, worker *stack.Process }

func (r *run) startOthers(ctx context.Context) (o *others, err error) {
	o = &others{}
	if o.worker, err = r.shop.StartAnotherWorker(ctx); err != nil {
		return nil, err
	}
	return o, r.startOtherStarter(ctx, o)
}

func (r *run) startOtherStarter(ctx context.Context, o *others) error {
	p, url, err := r.shop.StartAnotherStarter(ctx)
	if err != nil {
		return err
	}
	o.starter = p
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asideURL = url + "/webhooks/payments/test"
	return nil
}

// schedule is everything that happens to one process, one after the other.
type schedule struct {
	target  Target
	outages []Outage
	start   func(context.Context) error
	process func() process
}

// process is one of the shop's, or a server.
type process interface {
	Kill()
	Signal(syscall.Signal) error
}

// schedules sorts the outages by process.
func (r *run) schedules(o *others) []schedule {
	startOtherWorker := func(ctx context.Context) (err error) { o.worker, err = r.shop.StartAnotherWorker(ctx); return err }
	startOtherStarter := func(ctx context.Context) error { return r.startOtherStarter(ctx, o) }
	all := []schedule{
		{target: Worker, start: r.shop.StartWorker, process: func() process { return r.shop.Worker }},
		{target: OtherWorker, start: startOtherWorker, process: func() process { return o.worker }},
		{target: Starter, start: r.shop.StartStarter, process: func() process { return r.shop.Starter }},
		{target: OtherStarter, start: startOtherStarter, process: func() process { return o.starter }},
		{target: Postgres, start: r.servers.Postgres.Restart, process: func() process { return r.servers.Postgres }},
		{target: Temporal, start: r.servers.Temporal.Restart, process: func() process { return r.servers.Temporal }},
	}
	for i := range all {
		for _, outage := range r.plan.Outages {
			if outage.Target == all[i].target {
				all[i].outages = append(all[i].outages, outage)
			}
		}
	}
	return all
}

func (r *run) runSchedule(ctx context.Context, l schedule) error {
	for _, o := range l.outages {
		if !r.until(ctx, o.At) {
			return context.Cause(ctx)
		}
		if err := r.hit(ctx, l, o); err != nil {
			return fmt.Errorf("%s of %s: %w", o.How, o.Target, err)
		}
		r.mu.Lock()
		r.hurt[string(o.Target)+" "+o.How]++
		r.mu.Unlock()
	}
	return nil
}

func (r *run) hit(ctx context.Context, l schedule, o Outage) error {
	switch o.How {
	case Cut:
		r.shop.Proxy.Cut()
		return nil
	case Freeze:
		if err := l.process().Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		await.Pause(ctx, o.For)
		return l.process().Signal(syscall.SIGCONT)
	}
	l.process().Kill()
	await.Pause(ctx, o.For)
	return l.start(ctx)
}
