package crash_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/lab/harness"
)

// What holds a process at a point is in no program that is shipped.
func TestTheShippedProgramsHaveNoFailpoints(t *testing.T) {
	t.Parallel()
	for program, point := range map[string]string{"starter": "webhook.before_store", "worker": "email.claimed"} {
		for variant, want := range map[harness.Variant]bool{harness.Local: false, harness.Holdable: true} {
			path, err := harness.Program(program, variant)
			if err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, trace := range []string{"HANDOVER_FAILPOINTS", point, "internal/failpoint.Hit"} {
				if bytes.Contains(content, []byte(trace)) != want {
					t.Errorf("%s holds %q: %v, want %v", path, trace, !want, want)
				}
			}
		}
	}
}

var hit = regexp.MustCompile(`failpoint\.Hit\("([^"]+)"\)`)

// Every point in the source is one at which a process is killed, and the other way round.
func TestEveryFailpointIsTested(t *testing.T) {
	t.Parallel()
	var tested []string
	for _, p := range places {
		tested = append(tested, p.point)
	}
	for _, d := range doorways {
		tested = append(tested, d.point)
	}
	var found []string
	for _, text := range sources(t, ".go") {
		for _, point := range hit.FindAllStringSubmatch(text, -1) {
			found = append(found, point[1])
		}
	}
	if diff := cmp.Diff(sorted(tested), sorted(found)); diff != "" {
		t.Errorf("points (-tested +in the source):\n%s", diff)
	}
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// sources are the files of the checkout with the ending, tests left out, by their paths.
func sources(t *testing.T, ending string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"*", "*/*", "*/*/*", "*/*/*/*"} {
		paths, err := filepath.Glob(filepath.Join(harness.Root(), pattern+ending))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			found[path] = string(text)
		}
	}
	return found
}
