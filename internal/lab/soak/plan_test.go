package soak_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/lab/soak"
)

func TestASeedGivesTheSamePlanAgain(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(soak.Make(200, 5), soak.Make(200, 5)); diff != "" {
		t.Errorf("the same seed gave another plan:\n%s", diff)
	}
	if cmp.Equal(soak.Make(200, 5).Outages, soak.Make(200, 6).Outages) {
		t.Error("another seed gave the same outages")
	}
}

// The short run of make test must not miss a kind of sale or a process.
func TestAShortPlanHasEverySaleAndKillsEveryProcess(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		p := soak.Make(25, seed)
		for _, sale := range []soak.Sale{
			soak.SalePaid, soak.SaleFree, soak.SaleLate, soak.SaleFailed, soak.SaleMissed, soak.SaleStrange, soak.SaleMixed, soak.SaleNoAddress, soak.SaleMoneyFirst,
		} {
			if !slices.ContainsFunc(p.Orders, func(o soak.Order) bool { return o.Sale == sale }) {
				t.Errorf("seed %d: nothing is sold as %s", seed, sale)
			}
		}
		for _, target := range []soak.Target{soak.Starter, soak.OtherStarter, soak.Worker, soak.OtherWorker, soak.Postgres, soak.Temporal} {
			if !slices.ContainsFunc(p.Outages, func(o soak.Outage) bool { return o.Target == target && o.How == soak.Kill }) {
				t.Errorf("seed %d: %s is not killed", seed, target)
			}
		}
	}
}

// A process is hurt by one thing after the other, and the steps of an order come in their sequence.
func TestAPlanIsInTheSequenceOfItsTimes(t *testing.T) {
	t.Parallel()
	p := soak.Make(500, 3)
	last := map[soak.Target]soak.Outage{}
	for _, o := range p.Outages {
		if o.At < last[o.Target].At {
			t.Errorf("%s: %s comes after %s", o.Target, o.At, last[o.Target].At)
		}
		last[o.Target] = o
	}
	for _, o := range p.Orders {
		if !slices.IsSortedFunc(o.Steps, func(a, b soak.Step) int { return int(a.At - b.At) }) {
			t.Errorf("the steps of %s are out of sequence", o.Session)
		}
	}
}
