package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	stop := tellTime(b.Out)
	defer stop()
	temporary := b.Target + ".new"
	arguments := append([]string{"build", "-buildvcs=false", "-o", temporary}, b.Flags...)
	command := exec.CommandContext(ctx, "go", append(arguments, b.Package)...)
	command.Dir = b.Dir
	command.Env = append(os.Environ(), "GOWORK=off")
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", filepath.Base(b.Target), err, lastLines(string(text), 20))
	}
	return os.Rename(temporary, b.Target)
}

func awaitLock(ctx context.Context, path string, out io.Writer) (*os.File, error) {
	told := false
	for {
		lock, err := tryLock(path)
		if !errors.Is(err, errLocked) {
			return lock, err
		}
		if !told {
			fmt.Fprintln(out, "another process is building it already: waiting for that …")
			told = true
		}
		if !await.Pause(ctx, 200*time.Millisecond) {
			return nil, ctx.Err()
		}
	}
}

// tellTime prints a line every 15 seconds, so that a long build does not look like a hang.
func tellTime(out io.Writer) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	started := time.Now()
	go func() {
		for await.Pause(ctx, 15*time.Second) {
			fmt.Fprintf(out, "  … %s\n", time.Since(started).Round(time.Second))
		}
	}()
	return cancel
}
