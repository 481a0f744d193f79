// Package cli is the operator's command line: it reads the ledger, files requests and shows orders, as text for a
// terminal and as JSON. Its serve command starts the server.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"handover/internal/ledger"
)

// The exit codes of every command.
const (
	exitDone     = 0
	exitFailed   = 1
	exitUsage    = 2
	exitNotFound = 3
)

// commands is the whole command line.
type commands struct {
	Serve     serveCommand     `cmd:"" help:"Serve webhooks, order pages and downloads."`
	Status    statusCommand    `cmd:"" help:"Show everything known of one order."`
	List      listCommand      `cmd:"" help:"List orders."`
	Resend    resendCommand    `cmd:"" help:"Send the access email again, as a new generation."`
	Retry     retryCommand     `cmd:"" help:"Work again on what has stopped, under the same keys."`
	Revoke    revokeCommand    `cmd:"" help:"End the access of an order. It stays ended until it is restored."`
	Restore   restoreCommand   `cmd:"" help:"Give access back, or leave it as it is after a refund that names no item."`
	Relink    relinkCommand    `cmd:"" help:"Send a new link in a new email; the links that went out before are dead."`
	Replay    replayCommand    `cmd:"" help:"Look at an order again, after the catalogue was mended."`
	Reconcile reconcileCommand `cmd:"" help:"Ask the payment providers for their paid sessions, and deliver those nobody told of."`
	Check     checkCommand     `cmd:"" help:"Hold the configuration against the real services: keys, webhooks, prices, files, database, Temporal."`
	Erase     eraseCommand     `cmd:"" help:"Forget who the buyer of an order is."`
	Migrate   migrateCommand   `cmd:"" help:"Bring the database schema up to date."`
}

// Streams are what a command line reads and writes.
type Streams struct {
	Out, Err io.Writer
	Getenv   func(string) (string, bool)
}

// console is what a command works with.
type console struct {
	ctx    context.Context
	out    io.Writer
	errs   io.Writer
	getenv func(string) (string, bool)
}

// Run runs one command and returns its exit code.
func Run(ctx context.Context, args []string, streams Streams) int {
	out, errs := streams.Out, streams.Err
	exited := -1
	parser, err := kong.New(&commands{},
		kong.Name("starter"),
		kong.Description("Handover's server and the operator's command line. ORDER is ENVIRONMENT/SESSION, for example live/cs_live_a1b2. Exit codes: 0 done or handed over, 1 failed, 2 usage, 3 not found."),
		kong.Writers(out, errs),
		kong.Exit(func(code int) { exited = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		fmt.Fprintln(errs, "starter:", err)
		return exitFailed
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 {
		return exited // --help
	}
	if err != nil {
		fmt.Fprintf(errs, "starter: %v\nRun starter --help for the commands.\n", err)
		return exitUsage
	}
	err = parsed.Run(&console{ctx: ctx, out: out, errs: errs, getenv: streams.Getenv})
	if err != nil {
		fmt.Fprintln(errs, "starter:", err)
	}
	return exitCode(err)
}

// errUsage marks a command that was called wrongly.
var errUsage = errors.New("usage")

func exitCode(err error) int {
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errUsage):
		return exitUsage
	case errors.Is(err, ledger.ErrNotFound):
		return exitNotFound
	}
	return exitFailed
}
