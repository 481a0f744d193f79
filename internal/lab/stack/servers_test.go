package stack_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"handover/internal/lab/stack"
	"handover/internal/lab/stack/testenv"
)

func TestPostgresKeepsItsDataThroughAKill(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "postgres")
	p := startPostgres(t, dir)
	if err := p.CreateDatabase(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	if err := p.CreateDatabase(t.Context(), "shop"); err != nil {
		t.Fatalf("creating it a second time: %v", err)
	}
	execute(t, p.URL("shop"), "CREATE TABLE facts (fact text); INSERT INTO facts VALUES ('paid')")
	port := p.Port()

	p.Kill()
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.Port() != port {
		t.Errorf("restarted on port %d, want %d again", p.Port(), port)
	}
	if got := queryText(t, p.URL("shop"), "SELECT fact FROM facts"); got != "paid" {
		t.Errorf("after the kill the table holds %q, want %q", got, "paid")
	}
}

func TestPostgresStopsTheServerThatAnEarlierStartLeft(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "postgres")
	left := startPostgres(t, dir)
	execute(t, left.URL("postgres"), "CREATE TABLE facts (fact text); INSERT INTO facts VALUES ('granted')")

	next := startPostgres(t, dir) // on the same data, while the first one runs
	select {
	case <-left.Process().Done():
	default:
		t.Error("the server that was left running still runs")
	}
	if got := queryText(t, next.URL("postgres"), "SELECT fact FROM facts"); got != "granted" {
		t.Errorf("the table holds %q, want %q", got, "granted")
	}
}

func TestPostgresStartsAfreshWhenItsDirectoryWasDeleted(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "postgres")
	old := startPostgres(t, dir)
	if err := old.CreateDatabase(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	old.Kill()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	next := startPostgres(t, dir)
	if got := queryText(t, next.URL("postgres"), "SELECT count(*)::text FROM pg_database WHERE datname = 'shop'"); got != "0" {
		t.Error("the deleted cluster's database is still there")
	}
}

func TestPostgresAsksForThePassword(t *testing.T) {
	t.Parallel()
	p := startPostgres(t, filepath.Join(t.TempDir(), "postgres"))
	config, err := pgx.ParseConfig(p.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	config.Password = "guess"
	if conn, err := pgx.ConnectConfig(t.Context(), config); err == nil {
		conn.Close(t.Context())
		t.Error("a wrong password was let in")
	}
	if got := queryText(t, p.URL("postgres"), "SHOW listen_addresses"); got != "127.0.0.1" {
		t.Errorf("listens on %q, want the loopback address only", got)
	}
}

func TestFrozenPostgresAnswersAfterItIsThawed(t *testing.T) {
	t.Parallel()
	p := startPostgres(t, filepath.Join(t.TempDir(), "postgres"))
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if conn, err := pgx.Connect(ctx, p.URL("postgres")); err == nil {
		conn.Close(t.Context())
		t.Error("a frozen server answered")
	}
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if got := queryText(t, p.URL("postgres"), "SELECT 'awake'"); got != "awake" {
		t.Errorf("got %q", got)
	}
}

func TestTemporalKeepsItsWorkflowsThroughAKill(t *testing.T) {
	t.Parallel()
	server, err := stack.StartTemporal(t.Context(), stack.TemporalConfig{Binary: testenv.TemporalCLI(t), Dir: t.TempDir(), Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	c := dial(t, server.Address())
	if _, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "kept", TaskQueue: "nobody"}, "Nothing"); err != nil {
		t.Fatal(err)
	}

	server.Kill()
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	c = dial(t, server.Address())
	if _, err := c.DescribeWorkflow(t.Context(), "kept", ""); err != nil {
		t.Errorf("the workflow is gone after the kill: %v", err)
	}
	namespace, err := c.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: "default"})
	if err != nil {
		t.Fatal(err)
	}
	if got := namespace.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(); got != 30*24*time.Hour {
		t.Errorf("retention is %s, want 30 days", got)
	}
	attributes, err := c.OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: "default"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range stack.SearchAttributes {
		if diff := cmp.Diff(want.String(), attributes.GetCustomAttributes()[name].String()); diff != "" {
			t.Errorf("search attribute %s (-want +got):\n%s", name, diff)
		}
	}
}

func startPostgres(t *testing.T, dir string) *stack.Postgres {
	t.Helper()
	testenv.Servers(t)
	p, err := stack.StartPostgres(t.Context(), stack.PostgresConfig{Dir: dir, Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		if err := stack.RemovePostgres(dir); err != nil {
			t.Error(err)
		}
	})
	return p
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func queryText(t *testing.T, url, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var text string
	if err := conn.QueryRow(t.Context(), sql).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

func dial(t *testing.T, address string) client.Client {
	t.Helper()
	c, err := client.DialContext(t.Context(), client.Options{HostPort: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
