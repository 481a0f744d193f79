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

// series is one run of timed calls.
type series struct {
	*bench
	waits map[string]chan struct{} // by session; closed when the order is delivered

	mu sync.Mutex
	answers
}

// answers times webhooks, and between them what an answer cannot do without: one commit and one start of a workflow.
// Every caller waits for its order to be delivered before it goes on, so that both kinds meet the same light load.
func (b *bench) answers(ctx context.Context, accepted <-chan finish, ids []string) (answers, error) {
	fmt.Fprintf(b.say, "timing %d webhooks, and as many commits with a start …\n", len(ids))
	s := &series{bench: b, waits: map[string]chan struct{}{}}
	queue := make(chan string, len(ids))
	for _, id := range ids {
		s.waits[id] = make(chan struct{})
		queue <- id
	}
	close(queue)
	group, ctx := errgroup.WithContext(ctx)
	for range b.callers {
		group.Go(func() error {
			for id := range queue {
				if err := s.call(ctx, id); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error { return s.deliveries(ctx, accepted) })
	err := group.Wait()
	return s.answers, err
}

func (s *series) call(ctx context.Context, id string) error {
	err := errors.Join(
		s.timed(&s.webhook, func() error { return s.buyer.pay(ctx, id) }),
		s.timed(&s.reference, func() error {
			return errors.Join(s.postgres.commit(ctx, s.buyer.bodies[id]), startBare(ctx, s.temporal, "beside:"+id))
		}))
	if err != nil {
		return err
	}
	select {
	case <-s.waits[id]:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("order %s/%s is not delivered after %s", environment, id, patience)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *series) timed(into *[]time.Duration, call func() error) error {
	began := time.Now()
	err := call()
	took := time.Since(began)
	s.mu.Lock()
	defer s.mu.Unlock()
	*into = append(*into, took)
	return err
}

// deliveries passes each on to its caller.
func (s *series) deliveries(ctx context.Context, accepted <-chan finish) error {
	for range s.waits {
		select {
		case f := <-accepted:
			wait, ours := s.waits[f.id]
			if !ours {
				return fmt.Errorf("%s was delivered and is not of this series", f.id)
			}
			close(wait)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
