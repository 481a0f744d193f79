package crash

import (
	"os/exec"
	"path/filepath"

	"handover/internal/lab/stack"
)

// NextStep is the line with which the next version's step stands in the Temporal UI.
const NextStep = "A step of the next version"

// StartNextWorker builds a worker whose story has one step more, and starts it in the place of the shop's. Flags are
// added for the linker.
func (s *Shop) StartNextWorker(linker string) {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "worker")
	command := exec.CommandContext(s.t.Context(), "go", "build", "-buildvcs=false", "-tags", "upgradetest", "-ldflags", linker, "-o", path, "./worker")
	command.Dir = Root()
	if text, err := command.CombinedOutput(); err != nil {
		s.t.Fatalf("build the next version: %v\n%s", err, text)
	}
	p, err := stack.Start(stack.Spec{Name: "next worker", Path: path, Dir: s.dir, Log: s.log("next worker"), Env: s.environment(s.WorkerURL)})
	s.must(err)
	s.processes = append(s.processes, p)
	s.Worker = p
	s.await("next worker", s.WorkerURL+"/readyz", p)
}
