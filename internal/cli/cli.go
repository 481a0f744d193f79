// Package cli is the operator's command line. Its commands read the ledger and file requests, and print text for a
// terminal or JSON; serve starts the server.
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

// errUsage marks a command that was called wrongly.
var errUsage = errors.New("usage")

// Streams are what a command line reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) (string, bool)
}

// commands is the whole command line.
type commands struct {
	Serve     serveCommand     `cmd:"" help:"Serve webhooks, order pages and downloads."`
	Status    statusCommand    `cmd:"" help:"Show everything known of one order."`
	List      listCommand      `cmd:"" help:"List orders."`
	Resend    resendCommand    `cmd:"" help:"Send the access email again, as a new generation."`
	Retry     retryCommand     `cmd:"" help:"Give what has stopped a fresh budget, under the same keys."`
	Revoke    revokeCommand    `cmd:"" help:"End the access of an order until it is restored."`
	Restore   restoreCommand   `cmd:"" help:"Give access back, or keep it after an unclear refund."`
	Relink    relinkCommand    `cmd:"" help:"Send a new link; the links sent before stop working."`
	Replay    replayCommand    `cmd:"" help:"Check an order again after the catalogue was corrected."`
	Reconcile reconcileCommand `cmd:"" help:"Find missed sales and stuck orders, and deliver them."`
	Check     checkCommand     `cmd:"" help:"Check the configuration against the real services."`
	Erase     eraseCommand     `cmd:"" help:"Erase who the buyer of an order, or of all orders of an address, is."`
	Migrate   migrateCommand   `cmd:"" help:"Bring the database schema up to date."`
}

// Run runs one command and returns its exit code.
func Run(ctx context.Context, args []string, streams Streams) int {
	return newConsole(ctx, streams).run(args)
}

func (c *console) run(args []string) int {
	exited := -1
	parser, err := kong.New(&commands{},
		kong.Name("starter"),
		kong.Writers(c.Out, c.Err),
		kong.Exit(func(code int) { exited = code }),
		kong.Help(printHelp))
	if err != nil {
		fmt.Fprintln(c.Err, "starter:", err)
		return exitFailed
	}

	parsed, err := parser.Parse(args)
	if exited >= 0 {
		return exited // --help
	}
	if err != nil {
		fmt.Fprintf(c.Err, "starter: %v\nRun starter --help for the commands.\n", err)
		return exitUsage
	}

	err = parsed.Run(c)
	if err != nil {
		fmt.Fprintln(c.Err, "starter:", err)
	}
	return exitCode(err)
}

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
