package crashtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// built are the programs under test, made once for all tests of a run.
var built struct {
	sync.Once
	dir string
	err error
}

// binary is the path of a program, built from this checkout.
func binary(t testing.TB, program string) string {
	t.Helper()
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "handover-crashtest-"); built.err != nil {
			return
		}
		_, file, _, _ := runtime.Caller(0)
		root := filepath.Join(filepath.Dir(file), "..", "..")
		command := exec.Command("go", "build", "-buildvcs=false", "-o", built.dir+string(os.PathSeparator), "./starter", "./worker")
		command.Dir = root
		if text, err := command.CombinedOutput(); err != nil {
			built.err = err
			t.Logf("%s", text)
		}
	})
	if built.err != nil {
		t.Fatalf("build starter and worker: %v", built.err)
	}
	return filepath.Join(built.dir, program)
}

// CleanUp removes what was built. Call it from TestMain, after the tests.
func CleanUp() {
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
}
