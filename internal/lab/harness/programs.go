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

// Variant is how the programs are built.
type Variant int

// The variants. The drivers of the clouds take minutes to compile, so they are left out where nobody measures.
const (
	Local    Variant = iota
	Holdable         // at failpoints
	Shipped          // with everything that a shop has
)

var variants = map[Variant]*programs{Local: {tags: "nocloud"}, Holdable: {tags: "nocloud,failpoints"}, Shipped: {}}

// Program is the path of starter or worker, built from this checkout.
func Program(name string, variant Variant) (string, error) {
	p := variants[variant]
	p.once.Do(func() {
		if p.dir, p.err = os.MkdirTemp("", "handover-programs-"); p.err == nil {
			p.err = Build(p.dir+string(os.PathSeparator), "-tags", p.tags, "./starter", "./worker")
		}
	})
	return filepath.Join(p.dir, name), p.err
}

// Build compiles programs of this checkout to a file, or into a directory whose path ends with a separator.
func Build(target string, arguments ...string) error {
	command := exec.Command("go", append([]string{"build", "-buildvcs=false", "-ldflags", "-s -w", "-o", target}, arguments...)...)
	command.Dir, command.Env = Root(), stack.Compiling(os.Environ())
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %v: %w\n%s", arguments, err, text)
	}
	return nil
}

// RemovePrograms deletes what was built. Call it after the last shop is closed.
func RemovePrograms() error {
	var errs []error
	for _, p := range variants {
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
