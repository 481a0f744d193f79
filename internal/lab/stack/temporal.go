package stack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"google.golang.org/protobuf/types/known/durationpb"

	"handover/internal/lab/await"
)

const (
	temporalNamespace = "default"
	// retention keeps closed orders; the development server's own is one day.
	retention = 30 * 24 * time.Hour
)

// SearchAttributes are those that the order workflow sets where the namespace has them.
var SearchAttributes = map[string]enumspb.IndexedValueType{
	"HandoverEnvironment": enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	"HandoverState":       enumspb.INDEXED_VALUE_TYPE_KEYWORD,
}

// TemporalConfig says where a development server keeps its data and how it runs.
type TemporalConfig struct {
	Binary   string // the temporal program, see EnsureTemporal
	Dir      string // holds the database file, made when missing
	Port     int    // 0 takes any free one
	UIPort   int    // 0 takes any free one
	Headless bool   // no web interface
	Log      string // the log file; empty for one in Dir

	// SearchAttributes are registered in the default namespace; nil for those of the order workflow.
	SearchAttributes map[string]enumspb.IndexedValueType
}

// Temporal is a running development server. Its data outlives it.
type Temporal struct {
	config  TemporalConfig
	file    string
	port    int
	uiPort  int
	process *Process
}

// StartTemporal starts the server and returns when it serves the default namespace, with the search attributes and a
// retention of 30 days.
func StartTemporal(ctx context.Context, config TemporalConfig) (*Temporal, error) {
	dir, err := filepath.Abs(config.Dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("prepare Temporal: %w", err)
	}
	config.Dir = dir
	if config.Log == "" {
		config.Log = filepath.Join(dir, "temporal.log")
	}
	if config.SearchAttributes == nil {
		config.SearchAttributes = SearchAttributes
	}
	version, err := temporalVersion(ctx, config.Binary)
	if err != nil {
		return nil, err
	}
	// A newer server may not read an older one's file.
	t := &Temporal{config: config, file: filepath.Join(dir, "temporal-"+version.name()+".db"), port: config.Port, uiPort: config.UIPort}
	return t, t.start(ctx)
}

func (t *Temporal) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	choose, chooseUI := t.port == 0, t.uiPort == 0
	var err error
	for range 3 { // a port may be taken between choosing and using it
		if choose {
			if t.port, err = FreePort(); err != nil {
				return err
			}
		}
		if chooseUI {
			if t.uiPort, err = FreePort(); err != nil {
				return err
			}
		}
		if t.process, err = Start(t.spec()); err != nil {
			return err
		}
		if err = t.ready(ctx); err == nil {
			return nil
		}
		t.process.Stop()
		if !errors.Is(err, ErrExited) {
			break
		}
	}
	return fmt.Errorf("start Temporal: %w; its log ends with:\n%s", err, Tail(t.config.Log, 10))
}

// spec sets more than a development server has by default. Its one shard loads a queue at most 20 times a second, which
// makes every hop of a workflow take 50 ms, and four partitions leave a worker with few pollers waiting for seconds.
func (t *Temporal) spec() Spec {
	arguments := []string{
		"server", "start-dev", "--ip", "127.0.0.1", "--port", strconv.Itoa(t.port), "--db-filename", t.file,
		"--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=normal",
		"--log-level", "warn", "--color", "never",
		"--dynamic-config-value", "history.transferProcessorMaxPollRPS=2000",
		"--dynamic-config-value", "history.timerProcessorMaxPollRPS=2000",
		"--dynamic-config-value", "history.visibilityProcessorMaxPollRPS=2000",
		"--dynamic-config-value", "matching.numTaskqueueReadPartitions=1",
		"--dynamic-config-value", "matching.numTaskqueueWritePartitions=1",
	}
	for name, kind := range t.config.SearchAttributes {
		arguments = append(arguments, "--search-attribute", name+"="+kind.String())
	}
	if t.config.Headless {
		arguments = append(arguments, "--headless")
	} else {
		arguments = append(arguments, "--ui-port", strconv.Itoa(t.uiPort))
	}
	return Spec{
		Name: "temporal", Path: t.config.Binary, Args: arguments, Log: t.config.Log, Dir: t.config.Dir,
		Env: WithoutTemporal(os.Environ()), PIDFile: filepath.Join(t.config.Dir, "temporal.pid"),
	}
}

// ClientOptions are those of a client that logs nothing.
func ClientOptions(address string) client.Options {
	return client.Options{HostPort: address, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))}
}

// WithoutTemporal drops what would point a Temporal client or server elsewhere.
func WithoutTemporal(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(entry string) bool {
		return strings.HasPrefix(entry, "TEMPORAL_")
	})
}

func (t *Temporal) ready(ctx context.Context) error {
	c, err := client.NewLazyClient(ClientOptions(t.Address()))
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := t.settle(attempt, c)
		cancel()
		if err == nil {
			return nil
		}
		if t.process.ended() {
			return ErrExited
		}
		if !await.Pause(ctx, 50*time.Millisecond) {
			return fmt.Errorf("it does not answer: %w", err)
		}
	}
}

// settle is repeated until all of it succeeds. The flags that do the same count for a new database file only.
func (t *Temporal) settle(ctx context.Context, c client.Client) error {
	if _, err := c.CheckHealth(ctx, nil); err != nil {
		return err
	}
	_, err := c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: temporalNamespace, SearchAttributes: t.config.SearchAttributes,
	})
	if err != nil {
		return err
	}
	_, err = c.WorkflowService().UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{
		Namespace: temporalNamespace,
		Config:    &namespacepb.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(retention)},
	})
	return err
}

// Address is host and port of the server.
func (t *Temporal) Address() string { return Loopback(t.port) }

// UI is the address of the web interface; empty when there is none.
func (t *Temporal) UI() string {
	if t.config.Headless {
		return ""
	}
	return "http://" + Loopback(t.uiPort)
}

// LogFile is the server's log.
func (t *Temporal) LogFile() string { return t.config.Log }

// Process is the running server, for a supervisor to watch.
func (t *Temporal) Process() *Process { return t.process }

// Stop ends the server in good order.
func (t *Temporal) Stop() { t.process.Stop() }

// Kill ends the server with SIGKILL.
func (t *Temporal) Kill() { t.process.Kill() }

// Signal sends a signal to the server.
func (t *Temporal) Signal(signal syscall.Signal) error { return t.process.Signal(signal) }

// Restart starts the server again after Stop or Kill, or stops and starts a running one, on the same port and data.
func (t *Temporal) Restart(ctx context.Context) error {
	t.Stop()
	return t.start(ctx)
}
