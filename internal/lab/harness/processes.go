package harness

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"handover/internal/lab/await"
	"handover/internal/lab/stack"
)

// startLimit is the longest that a process may take until it serves.
const startLimit = 150 * time.Second

// StartStarter starts a starter and waits until it serves.
func (s *Shop) StartStarter(ctx context.Context) (err error) {
	s.Starter, err = s.start(ctx, "starter", "starter", s.AdminURL+"/healthz", s.environment(s.AdminURL), "serve")
	return err
}

// StartAnotherStarter starts a second starter beside the first, on addresses of its own.
func (s *Shop) StartAnotherStarter(ctx context.Context) (p *stack.Process, publicURL string, err error) {
	publicURL, err = freeURL()
	if err != nil {
		return nil, "", err
	}
	admin, err := freeURL()
	if err != nil {
		return nil, "", err
	}
	environment := append(s.environment(admin), "LISTEN_ADDR="+host(publicURL))
	p, err = s.start(ctx, "starter", "another starter", admin+"/healthz", environment, "serve")
	return p, publicURL, err
}

// StartWorker starts a worker and waits until it polls and its schedule is there, which it makes a moment later.
func (s *Shop) StartWorker(ctx context.Context) (err error) {
	environment := s.environment(s.WorkerURL)
	if !s.Direct {
		environment = append(environment, "TEMPORAL_ADDRESS="+s.Proxy.Address())
	}
	if s.Worker, err = s.start(ctx, "worker", "worker", s.WorkerURL+"/readyz", environment); err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	err = await.Until(ctx, 25*time.Millisecond, func(ctx context.Context) (bool, error) {
		_, err := s.Schedule(ctx).Describe(ctx)
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("the worker has made no schedule: %w", err)
	}
	return nil
}

// StartAnotherWorker starts a second worker beside the first, on an admin address of its own.
func (s *Shop) StartAnotherWorker(ctx context.Context) (*stack.Process, error) {
	admin, err := freeURL()
	if err != nil {
		return nil, err
	}
	return s.start(ctx, "worker", "another worker", admin+"/readyz", s.environment(admin))
}

// StartProgram starts some other program in the place of the shop's worker, with something added to its environment.
func (s *Shop) StartProgram(ctx context.Context, name, path string, environment ...string) (err error) {
	s.Worker, err = s.launch(ctx, name, path, s.WorkerURL+"/readyz", append(s.environment(s.WorkerURL), environment...))
	return err
}

func (s *Shop) start(ctx context.Context, program, name, health string, environment []string, arguments ...string) (*stack.Process, error) {
	path, err := Program(program, s.Variant)
	if err != nil {
		return nil, err
	}
	if s.failpoints != nil {
		environment = append(environment, "HANDOVER_FAILPOINTS="+s.failpoints.url)
	}
	return s.launch(ctx, name, path, health, environment, arguments...)
}

// launch starts a program and waits until its health is good.
func (s *Shop) launch(ctx context.Context, name, path, health string, environment []string, arguments ...string) (*stack.Process, error) {
	p, err := stack.Start(stack.Spec{Name: name, Path: path, Args: arguments, Dir: s.Dir, Log: s.logFile(name), Env: environment})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.processes = append(s.processes, p)
	s.mu.Unlock()

	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	err = await.Until(ctx, 25*time.Millisecond, func(ctx context.Context) (bool, error) {
		select {
		case <-p.Done():
			return false, stack.ErrExited
		default:
			return healthy(ctx, health), nil
		}
	})
	if err != nil {
		return nil, fmt.Errorf("start the %s: %w; its log ends with:\n%s", name, err, stack.Tail(p.LogFile(), 20))
	}
	return p, nil
}

func healthy(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// Command runs the starter's command line in an operator's shell, which knows nothing of where the server listens, and
// returns what it printed, apart, and its exit code.
func (s *Shop) Command(ctx context.Context, arguments ...string) (out, errs string, code int, err error) {
	path, err := Program("starter", Local)
	if err != nil {
		return "", "", 0, err
	}
	command := exec.CommandContext(ctx, path, arguments...)
	command.Dir = s.Dir
	command.Env = slices.DeleteFunc(s.environment(s.AdminURL), func(v string) bool {
		return strings.HasPrefix(v, "ADMIN_ADDR=") || strings.HasPrefix(v, "LISTEN_ADDR=")
	})
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr

	err = command.Run()
	if command.ProcessState == nil {
		return "", "", 0, err
	}
	return stdout.String(), stderr.String(), command.ProcessState.ExitCode(), nil
}

func (s *Shop) environment(admin string) []string {
	return append(stack.WithoutTemporal(os.Environ()),
		"HANDOVER_CONFIG="+s.configPath(), "DATABASE_URL="+s.DatabaseURL, "TASK_QUEUE="+s.TaskQueue,
		"TEMPORAL_ADDRESS="+s.TemporalAddress, "TEMPORAL_CONFIG_FILE="+s.noProfiles(),
		"LISTEN_ADDR="+host(s.PublicURL), "ADMIN_ADDR="+host(admin),
		"LINK_SECRET="+linkSecret, "STRIPE_SECRET="+StripeSecret, "EMAIL_SECRET="+EmailSecret)
}

func host(url string) string { return strings.TrimPrefix(url, "http://") }

// Processes are all that were started, the ended ones too.
func (s *Shop) Processes() []*stack.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.processes)
}

func (s *Shop) logFile(name string) string { return filepath.Join(s.Dir, name+".log") }

// Log is everything that a process has logged so far.
func (s *Shop) Log(name string) (string, error) {
	text, err := os.ReadFile(s.logFile(name))
	return string(text), err
}

// LogTails are the ends of all logs, for whoever asks why it failed.
func (s *Shop) LogTails() string {
	var b strings.Builder
	for _, p := range s.Processes() {
		fmt.Fprintf(&b, "%s %d:\n%s", p.Name(), p.PID(), stack.Tail(p.LogFile(), 40, `"msg":"request"`))
	}
	return b.String()
}
