package soak

import (
	"context"
	"syscall"

	"handover/internal/lab/stack"
)

// others are the second starter and the second worker. Their lanes replace them.
type others struct{ starter, worker *stack.Process }

func (r *run) startOthers() *others {
	o := &others{worker: r.shop.StartAnotherWorker()}
	r.startOtherStarter(o)
	return o
}

func (r *run) startOtherStarter(o *others) {
	p, url := r.shop.StartAnotherStarter()
	o.starter = p
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asideURL = url + "/webhooks/payments/test"
}

// lane is everything that happens to one process, one after the other.
type lane struct {
	target  Target
	outages []Outage
	kill    func()
	start   func() error
	signal  func(syscall.Signal) error
}

// lanes sorts the outages by process. Processes of the shop start one at a time; servers do not wait for those.
func (r *run) lanes(o *others) []lane {
	again := func(start func()) func() error {
		return func() error {
			r.launching.Lock()
			defer r.launching.Unlock()
			start()
			return nil
		}
	}
	ctx := r.t.Context()
	all := []lane{
		{target: Worker, kill: func() { r.shop.Worker.Kill() }, start: again(r.shop.StartWorker),
			signal: func(s syscall.Signal) error { return r.shop.Worker.Signal(s) }},
		{target: OtherWorker, kill: func() { o.worker.Kill() }, start: again(func() { o.worker = r.shop.StartAnotherWorker() }),
			signal: func(s syscall.Signal) error { return o.worker.Signal(s) }},
		{target: Starter, kill: func() { r.shop.Starter.Kill() }, start: again(r.shop.StartStarter),
			signal: func(s syscall.Signal) error { return r.shop.Starter.Signal(s) }},
		{target: OtherStarter, kill: func() { o.starter.Kill() }, start: again(func() { r.startOtherStarter(o) }),
			signal: func(s syscall.Signal) error { return o.starter.Signal(s) }},
		{target: Postgres, kill: r.servers.postgres.Kill, start: func() error { return r.servers.postgres.Restart(ctx) },
			signal: r.servers.postgres.Signal},
		{target: Temporal, kill: r.servers.temporal.Kill, start: func() error { return r.servers.temporal.Restart(ctx) },
			signal: r.servers.temporal.Signal},
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

func (r *run) playLane(ctx context.Context, l lane) {
	for _, o := range l.outages {
		if !r.until(ctx, o.At) {
			return
		}
		if err := r.hit(ctx, l, o); err != nil {
			r.t.Errorf("%s of %s: %v", o.How, o.Target, err)
			return
		}
		r.mu.Lock()
		r.hurt[string(o.Target)+" "+o.How]++
		r.mu.Unlock()
	}
}

func (r *run) hit(ctx context.Context, l lane, o Outage) error {
	switch o.How {
	case Cut:
		r.shop.WorkerLine.Cut()
		return nil
	case Freeze:
		if err := l.signal(syscall.SIGSTOP); err != nil {
			return err
		}
		pause(ctx, o.For)
		return l.signal(syscall.SIGCONT)
	}
	l.kill()
	pause(ctx, o.For)
	return l.start()
}
