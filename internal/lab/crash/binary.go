package crash

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// build is a set of the programs under test, made once for all tests of a run.
type build struct {
	tags string
	sync.Once
	dir string
	err error
}

// The programs as they are shipped, and with the points at which a test can hold them.
var (
	shipped = build{}
	pointed = build{tags: "crashpoints"}
)

// binary is the path of a program, built from this checkout.
func (b *build) binary(t testing.TB, program string) string {
	t.Helper()
	b.Do(func() {
		if b.dir, b.err = os.MkdirTemp("", "handover-crashtest-"); b.err != nil {
			return
		}
		command := exec.Command("go", "build", "-buildvcs=false", "-tags", b.tags, "-o", b.dir+string(os.PathSeparator), "./starter", "./worker")
		command.Dir = Root()
		if text, err := command.CombinedOutput(); err != nil {
			b.err = err
			t.Logf("%s", text)
		}
	})
	if b.err != nil {
		t.Fatalf("build starter and worker: %v", b.err)
	}
	return filepath.Join(b.dir, program)
}

// Shipped is the path of a program as it is shipped.
func Shipped(t testing.TB, program string) string { t.Helper(); return shipped.binary(t, program) }

// Pointed is the path of a program that can be held at points.
func Pointed(t testing.TB, program string) string { t.Helper(); return pointed.binary(t, program) }

// Root is the directory of this checkout.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

// CleanUp removes what was built. Call it from TestMain, after the tests.
func CleanUp() {
	for _, b := range []*build{&shipped, &pointed} {
		if b.dir != "" {
			_ = os.RemoveAll(b.dir)
		}
	}
}
