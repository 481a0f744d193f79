// Package testenv gives tests their share of the real servers that `make test` starts once for the whole run: a database
// and a task queue each.
package testenv

import (
	"crypto/rand"
	"log/slog"
	"os"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
)

// The variables that `make test` sets and `make services` prints.
const (
	DatabaseVariable = "HANDOVER_TEST_DATABASE_URL"     // the server's superuser, any existing database
	TemporalVariable = "HANDOVER_TEST_TEMPORAL_ADDRESS" // host:port
	CLIVariable      = "HANDOVER_TEST_TEMPORAL_CLI"     // path of the temporal program
	ChromiumVariable = "HANDOVER_TEST_CHROMIUM"         // path of the browser
)

// Temporal connects to the shared server, and closes the client at the end of the test. Its default namespace has the
// order workflow's search attributes.
func Temporal(t testing.TB) client.Client {
	t.Helper()
	c, err := client.DialContext(t.Context(), client.Options{
		HostPort: need(t, TemporalVariable), Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TemporalAddress is the shared server's host and port, for tests that start a process of their own.
func TemporalAddress(t testing.TB) string {
	t.Helper()
	return need(t, TemporalVariable)
}

// TaskQueue is a name that no other test uses.
func TaskQueue(t testing.TB) string {
	t.Helper()
	return "test-" + strings.ToLower(rand.Text())
}

// TemporalCLI is the path of the temporal program, for tests that need a server of their own or the operator's commands.
func TemporalCLI(t testing.TB) string {
	t.Helper()
	return need(t, CLIVariable)
}

func need(t testing.TB, variable string) string {
	t.Helper()
	value := os.Getenv(variable)
	if value == "" {
		t.Fatalf("%s is not set: run make test, or keep make services running and export the lines that it prints", variable)
	}
	return value
}
