package soak

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"handover/internal/lab/await"
	"handover/internal/ledger"
	"handover/internal/order"
)

// How the end is waited for.
const (
	checkEvery  = time.Second
	repairEvery = 20 * time.Second
	stuckAfter  = 80 * time.Second // longer than anything pauses before it tries again
	quietAfter  = 3 * time.Second  // nothing may happen any more
)

// settle waits until everything has ended and the checker has nothing to say, for as long as it may take. Then
// it waits a little more, because nothing may happen afterwards, tries the links, and checks for good.
func (r *run) settle(ctx context.Context) (all []Facts, found []Violation, took time.Duration, err error) {
	pool, err := ledger.Connect(ctx, r.servers.DatabaseURL)
	if err != nil {
		return nil, nil, 0, err
	}
	defer pool.Close()
	began := time.Now()
	repaired, moved := time.Time{}, began
	for time.Since(began) < r.o.Settle && time.Since(moved) < stuckAfter {
		if time.Since(repaired) > repairEvery {
			r.repair(ctx)
			repaired = time.Now()
		}
		before := found
		if all, found, err = r.check(ctx, pool); err != nil {
			return nil, nil, 0, err
		}
		if len(found) == 0 || !await.Pause(ctx, checkEvery) {
			break
		}
		if !slices.Equal(before, found) {
			moved = time.Now()
		}
	}
	took = time.Since(began)
	await.Pause(ctx, quietAfter)
	if all, _, err = r.check(ctx, pool); err != nil {
		return nil, nil, 0, err
	}
	r.tryLinks(ctx, all)
	return all, Check(all), took, nil
}

func (r *run) check(ctx context.Context, pool *pgxpool.Pool) ([]Facts, []Violation, error) {
	all, err := r.read(ctx, pool)
	if err != nil {
		return nil, nil, fmt.Errorf("read the ledger: %w", err)
	}
	return all, Check(all), nil
}

// repair does what an operator does after such a day: the settings are right again, and missed sales are
// found.
func (r *run) repair(ctx context.Context) {
	r.operator(ctx, "retry", "--misconfigured", "--reason", "the settings are right again")
	r.operator(ctx, "reconcile", "--since", "1h")
}

// tryLinks opens the newest message's link of every order whose newest email was accepted.
func (r *run) tryLinks(ctx context.Context, all []Facts) {
	for i := range all {
		f := &all[i]
		if len(f.Messages) == 0 || f.View.Facts.Email != order.EmailAccepted {
			continue
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.newest().Link, nil)
		if err != nil {
			continue // there is no link in it
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			_ = answer.Body.Close()
			f.Door = answer.StatusCode
		}
	}
}

// newest is the message of the highest generation.
func (f Facts) newest() (m Message) {
	for _, one := range f.Messages {
		if len(one.Key) > len(m.Key) || len(one.Key) == len(m.Key) && one.Key > m.Key {
			m = one
		}
	}
	return m
}
