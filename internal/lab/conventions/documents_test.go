package conventions

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	quoted   = regexp.MustCompile("`([^`\n]+)`|\\||\n\n")
	testName = regexp.MustCompile(`^Test\w+$`)
	declared = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	link     = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]+)?\)`)
)

// documents are the paths of all Markdown files of the checkout, inside it.
func documents(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root(t), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			name, err := filepath.Rel(root(t), path)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
	}
	return names
}

// A table that names tests which are not there is a promise that nobody keeps.
func TestEveryTestThatTheDocumentsNameExists(t *testing.T) {
	t.Parallel()
	for _, file := range documents(t) {
		names := namedTestsExist(t, file, read(t, file))
		if least := map[string]int{"docs/failure-modes.md": 30, "README.md": 5}[file]; names < least {
			t.Errorf("%d names of tests found in %s", names, file)
		}
	}
}

// namedTestsExist checks the tests that a document names, and says how many there are.
func namedTestsExist(t *testing.T, file, text string) (names int) {
	t.Helper()
	const crash = "internal/lab/crash"
	in := crash // a package stands before its tests, up to the end of the cell or paragraph
	for _, found := range quoted.FindAllStringSubmatch(text, -1) {
		switch word := found[1]; {
		case word == "":
			in = crash
		case testName.MatchString(word):
			names++
			if !testsOf(t, in)[word] {
				t.Errorf("%s: there is no %s in %s", file, word, in)
			}
		case !strings.Contains(word, " ") && exists(t, word, true):
			in = word
		}
	}
	return names
}

// testsOf are the tests that a package declares.
func testsOf(t *testing.T, path string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root(t), path, "*_test.go"))
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

func TestTheLinksBetweenTheDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, file := range documents(t) {
		for _, found := range link.FindAllStringSubmatch(read(t, file), -1) {
			target, heading := found[1], found[2]
			if strings.Contains(target, "://") {
				continue
			}
			target = filepath.Join(filepath.Dir(file), target)
			switch {
			case !exists(t, target, false):
				t.Errorf("%s: there is no %s", file, target)
			case heading != "" && !headings(read(t, target))[heading]:
				t.Errorf("%s: %s has no heading %s", file, target, heading)
			}
		}
	}
}

// headings are the anchors of a document's headings, as the web pages of a repository make them.
func headings(text string) map[string]bool {
	anchors := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		anchor := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(found[1]), "")
		anchors["#"+strings.ReplaceAll(anchor, " ", "-")] = true
	}
	return anchors
}

// Paths in the documents that begin with internal/ are of this checkout.
func TestThePathsInTheDocumentsExist(t *testing.T) {
	t.Parallel()
	path := regexp.MustCompile("`((?:internal|activities|workflows)/[a-z0-9_/]+(?:\\.(?:go|sql|md))?)`")
	for _, file := range documents(t) {
		for _, found := range path.FindAllStringSubmatch(read(t, file), -1) {
			if !exists(t, found[1], false) {
				t.Errorf("%s: there is no %s", file, found[1])
			}
		}
	}
}

func exists(t *testing.T, path string, directory bool) bool {
	t.Helper()
	info, err := os.Stat(filepath.Join(root(t), path))
	return err == nil && (info.IsDir() || !directory)
}
