package main

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"
)

// patience is how long a block may go without anything finishing. It is far above any time worth measuring.
const patience = 60 * time.Second

// finish says when one of a block's pieces was done.
type finish struct {
	id string
	at time.Time
}

// block is one timed series: of orders, or of bare workflows.
type block struct {
	Latencies []time.Duration `json:"latencies"` // from the start call to done
	Answers   []time.Duration `json:"answers"`   // of the start calls
	Took      time.Duration   `json:"took"`      // from the first start to the end of the last one's last task
	CPU       time.Duration   `json:"cpu"`       // of the bare process; the order's processes are counted outside
	Last      string          `json:"last"`
}

func (b block) perSecond() float64 { return float64(len(b.Latencies)) / b.Took.Seconds() }

// drive starts every id, never more than inFlight before they are done, and settles the last one before the clock stops:
// what is still to be done after the part that counts must not run in the next block.
func drive(ctx context.Context, ids []string, inFlight int, done <-chan finish, start, settle func(context.Context, string) error) (block, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f := feed{began: map[string]time.Time{}, free: make(chan struct{}, inFlight), over: make(chan struct{})}
	opening := time.Now()
	go f.run(ctx, cancel, ids, start)
	result, err := collect(ctx, &f, ids, done)
	if err != nil {
		cancel(err)
	}
	<-f.over // nothing of this block is under way any more
	result.Answers = f.answers
	if err := cmp.Or(err, context.Cause(ctx)); err != nil {
		return result, err
	}
	if err := settle(ctx, result.Last); err != nil {
		return result, fmt.Errorf("settle %s: %w", result.Last, err)
	}
	result.Took = time.Since(opening)
	return result, nil
}

// feed starts the orders of one block.
type feed struct {
	mu      sync.Mutex
	began   map[string]time.Time
	answers []time.Duration
	free    chan struct{}
	over    chan struct{} // closed when no start is under way any more
}

func (f *feed) run(ctx context.Context, cancel context.CancelCauseFunc, ids []string, start func(context.Context, string) error) {
	defer close(f.over)
	var starts sync.WaitGroup
	defer starts.Wait()
	for _, id := range ids {
		select {
		case f.free <- struct{}{}:
		case <-ctx.Done():
			return
		}
		at := time.Now()
		f.mu.Lock()
		f.began[id] = at
		f.mu.Unlock()
		starts.Go(func() {
			err := start(ctx, id)
			f.mu.Lock()
			f.answers = append(f.answers, time.Since(at))
			f.mu.Unlock()
			if err != nil {
				cancel(fmt.Errorf("start %s: %w", id, err))
			}
		})
	}
}

// collect takes what is done, until everything is.
func collect(ctx context.Context, feed *feed, ids []string, done <-chan finish) (result block, err error) {
	for range ids {
		select {
		case f := <-done:
			feed.mu.Lock()
			at, ours := feed.began[f.id]
			feed.mu.Unlock()
			if !ours {
				return result, fmt.Errorf("%s was done and is not of this block", f.id)
			}
			result.Latencies = append(result.Latencies, f.at.Sub(at))
			result.Last = f.id
			<-feed.free
		case <-time.After(patience):
			return result, fmt.Errorf("%d of %d are not done, and nothing was for %s", len(ids)-len(result.Latencies), len(ids), patience)
		case <-ctx.Done():
			return result, context.Cause(ctx)
		}
	}
	return result, nil
}
