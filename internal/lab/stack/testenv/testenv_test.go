package testenv_test

import (
	"fmt"
	"testing"

	"handover/internal/lab/stack/testenv"
)

// watched records how a test would have ended.
type watched struct {
	testing.TB
	ended string
}

func (w *watched) Helper() {}
func (w *watched) Skip(what ...any) {
	w.ended = "skipped: " + fmt.Sprint(what...)
	panic(w)
}
func (w *watched) Fatal(what ...any) {
	w.ended = "failed: " + fmt.Sprint(what...)
	panic(w)
}

func TestWithoutServersATestIsSkippedAndFailsWhereNothingMayBeLeftOut(t *testing.T) {
	const how = testenv.DatabaseVariable + " is not set: run make test, or keep make services running and export the lines that it prints"
	tests := []struct{ name, ci, required, want string }{
		{"by hand", "", "", "skipped: " + how},
		{"in continuous integration", "true", "", "failed: " + how},
		{"under make test", "", "1", "failed: " + how},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("CI", test.ci)
			t.Setenv(testenv.RequiredVariable, test.required)
			t.Setenv(testenv.DatabaseVariable, "")
			w := &watched{TB: t}
			func() {
				defer func() { _ = recover() }()
				testenv.Servers(w)
			}()
			if w.ended != test.want {
				t.Errorf("got %q, want %q", w.ended, test.want)
			}
		})
	}
}
