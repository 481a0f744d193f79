package conventions

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "handover/"

// A rule bounds what packages import. Patterns are paths inside the module; "/..." at the end includes what lies below.
type rule struct {
	why      string
	of       []string // the packages that it is about
	but      []string // and is not about, although of names them
	only     []string // of our own packages, they import these and no others
	never    []string // they do not import these
	standard bool     // beside our own they import the standard library only
	deep     bool     // what they import in turn counts too
}

var rules = []rule{
	{
		why: "the laboratory is no part of the product",
		of:  []string{"..."}, but: []string{"internal/lab/..."}, never: []string{"internal/lab/..."},
	},
	{
		why: "the rules of an order need no I/O, and anybody can test them",
		of:  []string{"internal/order"}, only: []string{}, standard: true,
	},
	{
		why: "the ledger knows the domain and no surface, provider or process",
		of:  []string{"internal/ledger"}, only: []string{"internal/order", "internal/failpoint"},
	},
	{
		why: "what Temporal knows is names and payloads: whoever starts a run does not link the worker",
		of:  []string{"internal/flow"}, only: []string{"internal/order"},
	},
	{
		why: "a port knows the domain and how findings and settings are put",
		of:  []string{"internal/access", "internal/email", "internal/payment"}, only: []string{"internal/order", "internal/finding", "internal/setting", "internal/text"},
	},
	{
		why: "a payment provider knows its port and no other adapter",
		of:  []string{"internal/payment/..."}, but: []string{"internal/payment", "internal/payment/registry"},
		only: []string{"internal/order", "internal/finding", "internal/setting", "internal/text", "internal/payment", "internal/providerhttp"},
	},
	{
		why: "an email provider knows its port and no other adapter",
		of:  []string{"internal/email/..."}, but: []string{"internal/email", "internal/email/registry"},
		only: []string{"internal/order", "internal/finding", "internal/setting", "internal/text", "internal/email", "internal/providerhttp"},
	},
	{
		why: "a kind of access knows its port and no other kind",
		of:  []string{"internal/access/..."}, but: []string{"internal/access", "internal/access/registry"},
		only: []string{"internal/order", "internal/finding", "internal/setting", "internal/text", "internal/access", "internal/providerhttp"},
	},
	{
		why: "the configuration asks adapters through the registries that it is given",
		of:  []string{"internal/config"}, only: []string{"internal/order", "internal/setting", "internal/access"},
	},
	{
		why: "leaves of the tree: anybody may use them, so they know nobody",
		of:  []string{"internal/setting", "internal/finding", "internal/failpoint", "internal/providerhttp", "internal/files", "internal/text"}, only: []string{},
	},
	{
		why: "pages and webhooks read and store: what is decided is decided behind their interfaces",
		of:  []string{"internal/web/..."}, never: []string{"activities", "workflows", "internal/flow", "internal/dispatch", "internal/config", "internal/payment/registry", "internal/email/registry"},
	},
	{
		why: "the starter starts and signals runs, and does not link what works on them",
		of:  []string{"starter", "internal/cli", "internal/server"}, never: []string{"activities", "workflows"}, deep: true,
	},
	{
		why: "a workflow is replayed: it may not ask the ledger, a provider or the clock",
		of:  []string{"workflows"}, never: []string{"internal/ledger", "internal/web/...", "internal/payment/...", "internal/email/..."},
	},
}

func TestImportsPointInward(t *testing.T) {
	t.Parallel()
	direct, all := imports(t, false), imports(t, true)
	for _, r := range rules {
		found := direct
		if r.deep {
			found = all
		}
		covered := 0
		for _, p := range found {
			if matches(r.of, p.path) && !matches(r.but, p.path) {
				covered++
				r.check(t, p)
			}
		}
		if covered == 0 {
			t.Errorf("the rule %q is about no package: %v", r.why, r.of)
		}
	}
}

func (r rule) check(t *testing.T, p imported) {
	t.Helper()
	for _, name := range p.imports {
		path, ours := strings.CutPrefix(name, module)
		switch {
		case ours && matches(r.never, path), ours && r.only != nil && !matches(r.only, path), !ours && r.standard && strings.Contains(name, "."):
			t.Errorf("%s imports %s: %s", p.path, name, r.why)
		}
	}
}

// matches says whether a pattern is the path or ends in "..." and begins it.
func matches(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		above, below := strings.CutSuffix(pattern, "...")
		return path == strings.TrimSuffix(above, "/") || below && strings.HasPrefix(path, above)
	})
}

// imported is one package of ours.
type imported struct {
	path    string // inside the module
	imports []string
}

// imports lists our packages with what they import without their tests, directly or, with deep, in turn.
func imports(t *testing.T, deep bool) []imported {
	t.Helper()
	field := "Imports"
	if deep {
		field = "Deps"
	}
	command := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}} {{join .`+field+` " "}}`, "./...")
	command.Dir = root(t)
	text, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var found []imported
	for line := range strings.Lines(string(text)) {
		names := strings.Fields(line)
		found = append(found, imported{strings.TrimPrefix(names[0], module), names[1:]})
	}
	return found
}
