package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"handover/internal/lab/await"
	"handover/internal/lab/sandbox"
	"handover/internal/lab/stack"
)

// Where our own processes like to listen.
const (
	starterPort      = 8080
	starterAdminPort = 8081
	workerAdminPort  = 8082
	sandboxPort      = 8090
)

// apps are the addresses of our own processes and of the sandbox.
type apps struct {
	shop        shop
	environment []string // of starter and worker
	variables   string   // path of a shell script that sets what of it is ours
	starter     string   // http://…, without a trailing slash like all of these
	starterAdmin,
	workerAdmin,
	sandbox string
	providers *sandbox.Sandbox
}

// build makes starter and worker from source. Go's own cache keeps a repeated build short. The stack's files are
// in a folder: without the drivers of the clouds, which the benchmark measures as a shop has them, there is half as much
// to compile.
func (s *running) build(ctx context.Context) error {
	began := time.Now()
	fmt.Fprintln(s.say, "building starter and worker …")
	directory := s.state.Path("bin") + string(filepath.Separator)
	command := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-tags", "nocloud", "-ldflags", "-s -w", "-o", directory, "./starter", "./worker")
	command.Dir, command.Env = s.root, stack.Compiling(os.Environ())
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build starter and worker: %w\n%s", err, text)
	}
	s.ready("programs", "", began)
	return nil
}

// program is a binary of the stack's own, so that two stacks never overwrite what the other one runs.
func (s *running) program(name string) string { return s.state.Path("bin", name) }

// startApps configures the demonstration shop, brings the database up to date and starts sandbox, worker and starter.
func (s *running) startApps(ctx context.Context) (*apps, error) {
	a, err := s.configure(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.migrate(ctx, a); err != nil {
		return nil, err
	}
	if err := s.startSandbox(a); err != nil {
		return nil, err
	}
	return a, together(ctx,
		func(ctx context.Context) error {
			environment := slices.Concat(a.environment, []string{"ADMIN_ADDR=" + host(a.workerAdmin)})
			return s.startApp(ctx, "worker", "", a.workerAdmin+"/readyz", nil, environment)
		},
		func(ctx context.Context) error {
			environment := slices.Concat(a.environment, []string{"ADMIN_ADDR=" + host(a.starterAdmin), "LISTEN_ADDR=" + host(a.starter)})
			return s.startApp(ctx, "starter", host(a.starter), a.starterAdmin+"/readyz", []string{"serve"}, environment)
		},
	)
}

// configure chooses the addresses and writes the shop's configuration.
func (s *running) configure(ctx context.Context) (*apps, error) {
	a := &apps{}
	for _, p := range []struct {
		name      string
		preferred int
		address   *string
	}{
		{"starter", starterPort, &a.starter}, {"starter-admin", starterAdminPort, &a.starterAdmin},
		{"worker-admin", workerAdminPort, &a.workerAdmin}, {"sandbox", sandboxPort, &a.sandbox},
	} {
		port, err := s.port(p.name, p.preferred)
		if err != nil {
			return nil, err
		}
		*p.address = "http://" + stack.Loopback(port)
	}
	database, err := s.database(ctx)
	if err != nil {
		return nil, err
	}
	clients, err := s.clients()
	if err != nil {
		return nil, err
	}
	if a.shop, err = openShop(s.state.Dir, a.starter, a.sandbox); err != nil {
		return nil, err
	}
	own := append(a.shop.variables(), "DATABASE_URL="+database, "HANDOVER_CONFIG="+a.shop.config)
	a.environment = slices.Concat(clients, own)
	return a, s.writeVariables(a, own)
}

// forgetTemporal drops the reader's own settings of Temporal, as stack.WithoutTemporal does for our processes, but for the
// one that is ours. The last name is there because some shells refuse an unset of nothing.
const forgetTemporal = `unset $(env | sed -n '/^TEMPORAL_CLI=/d; s/^\(TEMPORAL_[A-Za-z0-9_]*\)=.*/\1/p') TEMPORAL_PROFILE` + "\n"

// writeVariables lets a person run the starter's and Temporal's commands against the stack.
func (s *running) writeVariables(a *apps, own []string) error {
	a.variables = s.state.Path("env")
	var script strings.Builder
	script.WriteString(forgetTemporal)
	own = append(own, "TEMPORAL_ADDRESS="+s.temporalAddress(), "TEMPORAL_CONFIG_FILE="+s.noProfiles())
	if s.temporal != nil {
		if err := s.linkTemporal(); err != nil {
			return fmt.Errorf("make the temporal command: %w", err)
		}
	}
	own = append(own, "ADMIN_ADDR="+host(a.starterAdmin), "LISTEN_ADDR="+host(a.starter))
	for _, variable := range own {
		name, value, _ := strings.Cut(variable, "=")
		fmt.Fprintf(&script, "export %s=%s\n", name, quoted(value))
	}
	fmt.Fprintf(&script, "PATH=%s:$PATH\n", quoted(s.state.Path("bin")))
	return os.WriteFile(a.variables, []byte(script.String()), 0o600)
}

// linkTemporal puts the Temporal program in use beside our own, as temporal.
func (s *running) linkTemporal() error {
	link := s.program("temporal")
	// Resolved, because the program may have been found on a PATH that has this very link.
	target, err := filepath.EvalSymlinks(s.binary)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		return err
	}
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Symlink(target, link)
}

// quoted is one word to a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (s *running) migrate(ctx context.Context, a *apps) error {
	log := s.state.Log("migrate")
	command := exec.CommandContext(ctx, s.program("starter"), "migrate")
	command.Env = a.environment
	text, err := command.CombinedOutput()
	if writeErr := os.WriteFile(log, text, 0o600); err == nil {
		err = writeErr
	}
	if err != nil {
		return logged(fmt.Errorf("starter migrate: %w", err), log)
	}
	return nil
}

// startApp starts one of our programs and returns when the given address answers 200.
func (s *running) startApp(ctx context.Context, name, address, health string, arguments, environment []string) error {
	began := time.Now()
	process, err := stack.Start(stack.Spec{
		Name: name, Path: s.program(name), Args: arguments, Env: environment, Dir: s.state.Dir, Log: s.state.Log(name),
		PIDFile: s.state.PIDFile(name), Signals: []syscall.Signal{syscall.SIGTERM},
	})
	if err != nil {
		return err
	}
	s.add(name, process, process)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var last string
	err = await.Until(ctx, 20*time.Millisecond, func(ctx context.Context) (bool, error) {
		var unready error
		if last, unready = answers(ctx, health); unready == nil {
			return true, nil
		}
		select {
		case <-process.Done():
			return false, stack.ErrExited
		default:
			return false, nil
		}
	})
	if err != nil {
		return logged(fmt.Errorf("%s is not ready: %w\n%s", name, err, last), process.LogFile())
	}
	s.ready(name, address, began)
	return nil
}

// answers returns the body too: an unready process says there what it is waiting for.
func answers(ctx context.Context, address string) (body string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %d", address, response.StatusCode)
	}
	return string(text), err
}

// host is the host and port of one of our addresses.
func host(address string) string {
	rest := strings.TrimPrefix(address, "http://")
	hostPort, _, _ := strings.Cut(rest, "/")
	return hostPort
}

// relative shows a path from the repository's top, as one would type it.
func (s *running) relative(path string) string {
	if short, err := filepath.Rel(s.root, path); err == nil {
		return short
	}
	return path
}
