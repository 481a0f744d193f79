package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// answers are the times of the webhooks and of what they are held against.
type answers struct{ webhook, reference []time.Duration }

// answers times webhooks, and between them what an answer cannot do without: one commit and one start of a workflow.
// Every caller waits for its order to be delivered before it goes on, so that both kinds meet the same light load.
func (b *bench) answers(ctx context.Context, accepted <-chan finish, ids []string) (answers, error) {
	fmt.Fprintf(b.say, "timing %d webhooks, and as many commits with a start …\n", len(ids))
	var (
		a     answers
		mu    sync.Mutex
		queue = make(chan string, len(ids))
		waits = map[string]chan struct{}{}
	)
	for _, id := range ids {
		waits[id] = make(chan struct{})
		queue <- id
	}
	close(queue)
	timed := func(into *[]time.Duration, call func() error) error {
		began := time.Now()
		err := call()
		took := time.Since(began)
		mu.Lock()
		defer mu.Unlock()
		*into = append(*into, took)
		return err
	}
	one := func(ctx context.Context, id string) error {
		err := errors.Join(
			timed(&a.webhook, func() error { return b.shop.pay(ctx, id) }),
			timed(&a.reference, func() error {
				return errors.Join(b.postgres.commit(ctx, b.shop.bodies[id]), startBare(ctx, b.temporal, "beside:"+id))
			}))
		if err != nil {
			return err
		}
		select {
		case <-waits[id]:
			return nil
		case <-time.After(patience):
			return fmt.Errorf("order %s/%s is not delivered after %s", environment, id, patience)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for range b.callers {
		group.Go(func() error {
			for id := range queue {
				if err := one(ctx, id); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		for range ids {
			select {
			case f := <-accepted:
				wait, ours := waits[f.id]
				if !ours {
					return fmt.Errorf("%s was delivered and is not of this series", f.id)
				}
				close(wait)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	err := group.Wait()
	return a, err
}
