package config

import (
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

func TestLinesAreFoundInEveryShapeOfTOML(t *testing.T) {
	t.Parallel()
	text := "# comment with [ and = and \"\n" +
		"a = \"# no comment \\\" still\"\r\n" +
		"b = '''\n[not.a.table]\nx = 1'''\n" +
		"\"quo.ted\" = 1\n" +
		"c.d = [ # comment ]\n  1,\n  [ 2, 3 ],\n  { e = 'x,}', f = [\n 4] },\n]\n" +
		"g = \"\"\"\\\"\"\"\" # two quotes, then the end\n" +
		"[t . u] # comment\n" +
		"h = 1979-05-27 07:32:00\n" +
		"[[p]]\n[[p]]\ni = 1\n[p.q]\nj = 2\n[[p.r]]\nk = {}\n"
	var values map[string]any
	if _, err := toml.Decode(text, &values); err != nil {
		t.Fatalf("the sample is not TOML: %v", err)
	}
	want := map[string]int{
		"a": 2, "b": 3, `"quo.ted"`: 6,
		"c": 7, "c.d": 7, "c.d[0]": 8, "c.d[1]": 9, "c.d[1][0]": 9, "c.d[1][1]": 9,
		"c.d[2]": 10, "c.d[2].e": 10, "c.d[2].f": 10, "c.d[2].f[0]": 11,
		"g": 13, "t": 14, "t.u": 14, "t.u.h": 15,
		"p": 16, "p[0]": 16, "p[1]": 17, "p[1].i": 18,
		"p[1].q": 19, "p[1].q.j": 20, "p[1].r": 21, "p[1].r[0]": 21, "p[1].r[0].k": 22,
	}
	if diff := cmp.Diff(want, locate(text)); diff != "" {
		t.Errorf("lines differ (-want +got):\n%s", diff)
	}
}

// FuzzLocate holds the locator to the parser: it ends on any text, and on any text that is TOML it has a line for every
// value.
func FuzzLocate(f *testing.F) {
	f.Add("a = 1\n[b]\nc = ['x', \"y\"]\n[[d]]\ne = { f = 1 }\n")
	f.Add("a = \"\"\"\n\\\"\"\"\"\n'b' . \"c\" = '''x''''\n")
	f.Add("[a\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines := locate(text)
		var values map[string]any
		if _, err := toml.Decode(text, &values); err != nil {
			return
		}
		walk(t, lines, "", values)
	})
}

func walk(t *testing.T, lines map[string]int, path string, v any) {
	if path != "" && lines[path] == 0 {
		t.Errorf("no line for %s", path)
	}
	switch v := v.(type) {
	case map[string]any:
		for key, one := range v {
			walk(t, lines, join(path, key), one)
		}
	case []map[string]any:
		for i, one := range v {
			walk(t, lines, element(path, i), one)
		}
	case []any:
		for i, one := range v {
			walk(t, lines, element(path, i), one)
		}
	}
}
