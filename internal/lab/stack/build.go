package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"handover/internal/lab/await"
)

// PinnedVersion is the version of a module, without its v, that the go.mod in the directory requires.
func PinnedVersion(dir, module string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`(?m)^\s*(?:require )?` + regexp.QuoteMeta(module) + ` v(\S+)`).FindSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("%s/go.mod requires no %s", dir, module)
	}
	return string(found[1]), nil
}

// Compiling is the environment of a build. A third of the compiler's time goes into collecting garbage, which a process
// of a few seconds need not do before it holds a gigabyte. It is not for the programs that are built.
func Compiling(environment []string) []string {
	return slices.Concat(environment, []string{"GOGC=off", "GOMEMLIMIT=1GiB"})
}

// Build is a program that is built once and then kept.
type Build struct {
	Target  string // the file to make; its name carries the version
	Dir     string // the module to build in
	Package string
	Flags   []string
	Out     io.Writer
	Notice  string // printed when it has to be built
}

// BuildOnce makes the target unless it is there. Of several at the same time one builds and the others wait; a build that
// was broken off leaves no target.
func BuildOnce(ctx context.Context, b Build) error {
	if _, err := os.Stat(b.Target); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(b.Target), 0o755); err != nil {
		return err
	}
	lock, err := awaitLock(ctx, b.Target+".lock", b.Out)
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err := os.Stat(b.Target); err == nil {
		return nil
	}
	fmt.Fprintln(b.Out, b.Notice)
	temporary := b.Target + ".new"
	arguments := slices.Concat([]string{"build", "-v", "-buildvcs=false", "-o", temporary}, b.Flags, []string{b.Package})
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = b.Dir
	command.Env = append(Compiling(os.Environ()), "GOWORK=off")
	var printed progress
	command.Stdout, command.Stderr = &printed, &printed
	stop := printed.report(b.Out)
	defer stop()
	if err := command.Run(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", filepath.Base(b.Target), err, printed.failure())
	}
	return os.Rename(temporary, b.Target)
}

func awaitLock(ctx context.Context, path string, out io.Writer) (*os.File, error) {
	reported := false
	for {
		lock, err := tryLock(path)
		if !errors.Is(err, errLocked) {
			return lock, err
		}
		if !reported {
			fmt.Fprintln(out, "another process is building it already: waiting for that …")
			reported = true
		}
		if !await.Pause(ctx, 200*time.Millisecond) {
			return nil, ctx.Err()
		}
	}
}

// progress collects what `go build -v` prints: a line for each package that it compiles and each module that it fetches.
type progress struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(text)
}

func (p *progress) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// failure is what it printed without those lines: what went wrong.
func (p *progress) failure() string {
	lines := slices.DeleteFunc(strings.Split(p.String(), "\n"), func(line string) bool {
		return strings.HasPrefix(line, "go: downloading ") || packageLine.MatchString(line)
	})
	return lastLines(strings.Join(lines, "\n"), 20)
}

// packageLine matches what -v prints of a package: its path alone.
var packageLine = regexp.MustCompile(`^[\w./~-]*$`)

// report prints a line every 15 seconds, so that a long build does not look like a hang.
func (p *progress) report(out io.Writer) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	started := time.Now()
	go func() {
		for await.Pause(ctx, 15*time.Second) {
			text := p.String()
			fetched := strings.Count(text, "go: downloading ")
			compiled := strings.Count(text, "\n") - fetched
			fmt.Fprintf(out, "  … %s: %d modules fetched, %d packages compiled\n", time.Since(started).Round(time.Second), fetched, compiled)
		}
	}()
	return cancel
}
