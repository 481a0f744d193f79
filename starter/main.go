// Command starter serves webhooks, order pages and downloads, and is the operator's command line.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"handover/internal/cli"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.LookupEnv})
}
