package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"handover/internal/lab/stack"
)

// programs are starter and worker, built once for all shops of this process.
type programs struct {
	tags string
	once sync.Once
	dir  string
	err  error
}

// The programs as they are shipped, but for the drivers of the clouds, which take minutes to compile; and with the failpoints at which they can be held.
var (
	shipped  programs
	holdable = programs{tags: "failpoints"}
)

// Program is the path of starter or worker, built from this checkout.
func Program(name string, failpoints bool) (string, error) {
	p := &shipped
	if failpoints {
		p = &holdable
	}
	p.once.Do(func() {
		if p.dir, p.err = os.MkdirTemp("", "handover-programs-"); p.err == nil {
			p.err = Build(p.dir+string(os.PathSeparator), "-tags", "nocloud,"+p.tags, "./starter", "./worker")
		}
	})
	return filepath.Join(p.dir, name), p.err
}

// Build compiles programs of this checkout to a file, or into a directory whose path ends with a separator.
func Build(target string, arguments ...string) error {
	command := exec.Command("go", append([]string{"build", "-buildvcs=false", "-o", target}, arguments...)...)
	command.Dir, command.Env = Root(), stack.Compiling(os.Environ())
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %v: %w\n%s", arguments, err, text)
	}
	return nil
}

// RemovePrograms deletes what was built. Call it after the last shop is closed.
func RemovePrograms() error {
	var errs []error
	for _, p := range []*programs{&shipped, &holdable} {
		if p.dir != "" {
			errs = append(errs, os.RemoveAll(p.dir))
		}
	}
	return errors.Join(errs...)
}

// Root is the directory of this checkout.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}
