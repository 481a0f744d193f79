// Command dev is the project's workbench: it brings up everything Handover runs on, shows an order being delivered, and
// runs the tests on the same real servers. The Makefile has a line for each of its commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const usage = `usage: go run ./internal/lab/stack/cmd COMMAND

  up         everything on this machine; buys one product and stays until Ctrl-C
  demo       the same, and ends when the order is delivered (JSON=1: the order as JSON)
  test       all tests on real servers; arguments are go test's
  bench      the benchmark on servers of its own; arguments are the benchmark's
  soak       hundreds of orders while everything fails, on servers of its own (N=500 SEED=1)
  services   only Postgres and Temporal, with the lines to export; stays until Ctrl-C
  clean      deletes the local stacks and their data
`

// errUsage ends with status 2, as the starter's own commands do.
var errUsage = errors.New("unknown command")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends this process at once, and with it the children
	ctx = untilOrphaned(ctx)
	err := run(ctx, os.Args[1:])
	switch {
	case err == nil:
	case errors.Is(err, errUsage):
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "stopped")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	if len(arguments) == 0 {
		return errUsage
	}
	root, err := repository()
	if err != nil {
		return err
	}
	command, rest := arguments[0], arguments[1:]
	switch command {
	case "up":
		return up(ctx, root)
	case "demo":
		return demo(ctx, root)
	case "test":
		return test(ctx, root, rest)
	case "bench":
		return laboratory(ctx, root, "bench", "./internal/lab/bench", rest)
	case "soak":
		return laboratory(ctx, root, "soak", "./internal/lab/soak/cmd", rest)
	case "services":
		return services(ctx, root)
	case "clean":
		return clean(root)
	}
	return errUsage
}

// repository finds the top of the checkout, from anywhere inside it.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module handover\n") {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("run this inside the repository")
		}
		dir = parent
	}
}

// untilOrphaned ends the context when `go run` was killed: it does not pass a SIGTERM or SIGKILL on to its program.
func untilOrphaned(ctx context.Context) context.Context {
	// `go run` runs its program from a temporary directory or from Go's build cache.
	program, err := os.Executable()
	if err != nil || !(strings.Contains(program, "go-build") || strings.HasSuffix(filepath.Dir(program), "-d")) {
		return ctx
	}
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	go func() {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if os.Getppid() != parent {
				cancel()
				return
			}
		}
	}()
	return ctx
}
