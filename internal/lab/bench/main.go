// Command bench measures what an order costs: it sends signed webhooks to a running starter until the sandbox has
// accepted the emails, and beside it, in the same run and on the same servers, runs a bare workflow of three empty
// activities. `make bench` makes room for it and runs it. It reports ratios and asserts no time: it fails only when
// an order is not delivered.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"handover/internal/lab/harness"
)

// settings are the size of a run.
type settings struct {
	dir      string // of the servers' data and the logs
	program  string // the temporal program
	orders   int    // in a block
	rounds   int    // of one block each
	inFlight int
	calls    int // webhooks whose answers are timed one by one
	callers  int // sending those at the same time
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			os.Exit(2)
		}
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&s.orders, "orders", 100, "orders in a block")
	flags.IntVar(&s.rounds, "rounds", 10, "rounds; each has a block of orders and a block of bare workflows")
	flags.IntVar(&s.inFlight, "inflight", 50, "orders in flight")
	flags.IntVar(&s.calls, "calls", 1000, "webhook calls that are timed beside a commit and a start")
	flags.IntVar(&s.callers, "callers", 4, "of those calls, how many at the same time")
	flags.StringVar(&s.dir, "dir", "", "directory of the servers' data and the logs")
	flags.StringVar(&s.program, "temporal", "", "the temporal program")
	bare := flags.Bool("bare", false, "be the bare worker; the benchmark starts it itself")
	if err := flags.Parse(arguments); err != nil {
		return errors.Join(flag.ErrHelp, err)
	}
	if min(s.orders, s.rounds, s.inFlight, s.callers) < 1 || s.calls < 0 {
		return errors.New("-orders, -rounds, -inflight and -callers must be at least 1")
	}
	if *bare {
		return serveBare(ctx, os.Stdin, out)
	}
	if s.dir == "" || s.program == "" {
		return errors.New("run make bench, which names the directory and the temporal program")
	}
	defer func() { _ = harness.RemovePrograms() }()
	report, err := measure(ctx, s)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	if asJSON() {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		err = e.Encode(report)
	} else {
		err = report.print(w)
	}
	return errors.Join(err, w.Flush())
}

func measure(ctx context.Context, s settings) (*report, error) {
	b, err := open(ctx, s)
	if err != nil {
		return nil, err
	}
	defer b.close()
	r, err := b.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, b.shop.LogTails())
	}
	return r, nil
}

// asJSON: one object on standard output; everything else always goes to standard error.
func asJSON() bool {
	v := os.Getenv("JSON")
	return v != "" && v != "0"
}
