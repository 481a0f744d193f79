// Command soak plays hundreds of orders against the real processes while everything around them fails, and checks the result. `make
// soak` makes room for it and runs it; the same seed gives the same plan.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"handover/internal/lab/harness"
	"handover/internal/lab/soak"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// errViolated is said by the report already.
var errViolated = errors.New("there are violations")

var errBadN = errors.New("N is the number of orders, 1 or more")

// settings reads the flags; N and SEED of the environment are their defaults.
func settings() (o soak.Options, err error) {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("N"), "500"))
	if err != nil {
		return o, errBadN
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("SEED"), strconv.Itoa(rand.IntN(1e9))), 10, 64)
	if err != nil {
		return o, errors.New("SEED is a number")
	}
	flag.IntVar(&o.N, "n", n, "orders")
	flag.Uint64Var(&o.Seed, "seed", seed, "seed of the plan")
	flag.StringVar(&o.Dir, "dir", "", "directory of the servers' data and the logs")
	flag.StringVar(&o.Program, "temporal", "", "the temporal program")
	flag.DurationVar(&o.Settle, "settle", 4*time.Minute, "longest wait until everything is settled")
	flag.Parse()
	if o.N < 1 {
		return o, errBadN
	}
	if o.Dir == "" || o.Program == "" || flag.NArg() > 0 {
		return o, errors.New("run make soak, which names the directory and the temporal program")
	}
	o.Log = os.Stderr
	return o, nil
}

func run(ctx context.Context, out io.Writer) error {
	o, err := settings()
	if err != nil {
		return err
	}
	defer func() { _ = harness.RemovePrograms() }()
	report, err := soak.Run(ctx, o)
	if err != nil {
		return fmt.Errorf("seed %d: %w; the logs are in %s", o.Seed, err, o.Dir)
	}
	if v := os.Getenv("JSON"); v != "" && v != "0" {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		err = e.Encode(report)
	} else {
		err = report.Print(out)
	}
	switch {
	case err != nil:
		return err
	case len(report.Violations) > 0:
		return errViolated
	case len(report.Problems) > 0:
		return errors.New("the plan could not be carried out")
	}
	return nil
}
