package crash_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"handover/internal/lab/crash"
)

var (
	quoted   = regexp.MustCompile("`([^`\n]+)`|\\||\n\n")
	testName = regexp.MustCompile(`^Test\w+$`)
	declared = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// A table that names tests which are not there is a promise that nobody keeps.
func TestEveryTestThatTheDocumentsNameExists(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(crash.Root(), "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, filepath.Join(crash.Root(), "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names := namedTestsExist(t, filepath.Base(file), string(text))
		if least := map[string]int{"failure-modes.md": 30, "README.md": 8}[filepath.Base(file)]; names < least {
			t.Errorf("%d names of tests found in %s", names, file)
		}
	}
}

// namedTestsExist checks the tests that a document names, and says how many there are.
func namedTestsExist(t *testing.T, file, text string) (names int) {
	t.Helper()
	const ours = "internal/lab/crash"
	in := ours // a package stands before its tests, up to the end of the cell or paragraph
	for _, found := range quoted.FindAllStringSubmatch(text, -1) {
		switch word := found[1]; {
		case word == "":
			in = ours
		case testName.MatchString(word):
			names++
			if !testsOf(t, in)[word] {
				t.Errorf("%s: there is no %s in %s", file, word, in)
			}
		case !strings.Contains(word, " ") && isPackage(word):
			in = word
		}
	}
	return names
}

// Every point at which a process is killed has its row, under the name that its cases have.
func TestEveryPlaceToDieHasARowInTheFailureModes(t *testing.T) {
	t.Parallel()
	text := failureModes(t)
	for _, p := range places {
		if !strings.Contains(text, "\n| the worker, "+p.row+" |") {
			t.Errorf("%s: no row begins with %q", p.point, "the worker, "+p.row)
		}
	}
	for _, d := range doorways {
		if !strings.Contains(text, "\n| the starter, "+d.row+" |") {
			t.Errorf("%s: no row begins with %q", d.point, "the starter, "+d.row)
		}
	}
}

func failureModes(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(crash.Root(), "docs", "failure-modes.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func isPackage(path string) bool {
	info, err := os.Stat(filepath.Join(crash.Root(), path))
	return err == nil && info.IsDir()
}

// testsOf are the tests that a package declares.
func testsOf(t *testing.T, path string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(crash.Root(), path, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range declared.FindAllSubmatch(text, -1) {
			names[string(found[1])] = true
		}
	}
	return names
}
