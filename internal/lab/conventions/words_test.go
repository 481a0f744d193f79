package conventions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wrong are the words that CONTRIBUTING.md replaces wherever they stand. The others in its list have a meaning that may
// be meant.
var wrong = regexp.MustCompile(`(?i)\b(told|heard of|wish(es|ed)?|mend(s|ed|ing)?|anew|heed(s|ed|ing)?|verdicts?|rests|wholly ours|left behind)\b`)

// named are texts that are no prose: single words, which are names and stored values, and SQL, which has those of columns.
var named = regexp.MustCompile(`^\S*$|\b(SELECT|INSERT|UPDATE|DELETE|AND|WHERE)\b`)

// worded are the directories whose comments and texts are held to the list, each with everything below it.
var worded = []string{"activities", "internal", "starter", "worker", "workflows"}

func TestTheDocumentsUseOurWords(t *testing.T) {
	t.Parallel()
	for _, name := range documents(t) {
		text := read(t, name)
		if name == "CONTRIBUTING.md" {
			text, _, _ = strings.Cut(text, "\n## Words") // the list itself
		}
		report(t, name, 1, text)
	}
}

func TestTheSourceUsesOurWords(t *testing.T) {
	t.Parallel()
	for _, dir := range worded {
		err := filepath.WalkDir(filepath.Join(root(t), dir), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".go") && !slices.Contains(strings.Split(path, "/"), "conventions") {
				checkSource(t, path)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// checkSource looks at comments and at texts in quotes: help, logs, errors, tests' messages.
func checkSource(t *testing.T, path string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	name, err := filepath.Rel(root(t), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Comments {
		report(t, name, files.Position(group.Pos()).Line, group.Text())
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok {
			field.Tag = nil // other programs read these names
		}
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && !named.MatchString(text.Value) {
			report(t, name, files.Position(text.Pos()).Line, text.Value)
		}
		return true
	})
}

// report names each line of the text that has one of the words; the text begins at the given line.
func report(t *testing.T, name string, line int, text string) {
	t.Helper()
	for i, one := range strings.Split(text, "\n") {
		if word := wrong.FindString(one); word != "" {
			t.Errorf("%s:%d: %q: CONTRIBUTING.md says what to write instead", name, line+i, word)
		}
	}
}
