package crash_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handover/internal/lab/harness"
)

// buildNextVersion builds the product's worker with a story that has one step more (testdata/nextversion.go). Nothing of
// it stands in the product: the compiler is given another text for the one file that makes workers.
func buildNextVersion(t *testing.T) (program string) {
	t.Helper()
	dir := t.TempDir()
	maker, changed := wrapNewWorker(t)
	addition, err := os.ReadFile(filepath.Join("testdata", "nextversion.go"))
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{
		maker: filepath.Join(dir, "changed.go"),
		filepath.Join(filepath.Dir(maker), "nextversion.go"): filepath.Join(dir, "nextversion.go"),
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"changed.go": changed, "nextversion.go": string(addition), "overlay.json": string(overlay)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	program = filepath.Join(dir, "worker")
	if err := harness.Build(program, "-tags", "nocloud", "-overlay", filepath.Join(dir, "overlay.json"), "./worker"); err != nil {
		t.Fatal(err)
	}
	return program
}

// wrapNewWorker finds the file of command worker that makes workers, and returns it with the calls wrapped.
func wrapNewWorker(t *testing.T) (path, changed string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(harness.Root(), "worker", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if changed := strings.ReplaceAll(string(text), " worker.New(", " nextVersion(worker.New)("); changed != string(text) {
			return path, changed
		}
	}
	t.Fatal("no file of command worker calls worker.New")
	return "", ""
}
