// Package testenv gives tests their share of the real servers that `make test` starts once for the whole run: a database
// and a task queue each.
package testenv

import (
	"crypto/rand"
	"log/slog"
	"os"
	"os/exec"
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
	RequiredVariable = "HANDOVER_TEST_REQUIRED"         // a test that finds no server fails, as it does where CI is set
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

// Chromium is the path of the browser: the one that the variable names, or the first on the PATH.
func Chromium(t testing.TB) string {
	t.Helper()
	if named := os.Getenv(ChromiumVariable); named != "" {
		return named
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, "no Chromium here: install one (apt-get install chromium) or set "+ChromiumVariable+" to its path")
	return ""
}

// Servers is for tests that start servers of their own: they run where others find the shared ones.
func Servers(t testing.TB) {
	t.Helper()
	need(t, DatabaseVariable)
}

func need(t testing.TB, variable string) string {
	t.Helper()
	value := os.Getenv(variable)
	if value == "" {
		missing(t, variable+" is not set: run make test, or keep make services running and export the lines that it prints")
	}
	return value
}

// missing skips the test, because `go test ./...` has to work where no server runs. Where nothing may be left out, as in
// continuous integration, it fails the test.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") != "" || os.Getenv(RequiredVariable) != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}
