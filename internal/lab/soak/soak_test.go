package soak_test

import (
	"bytes"
	"testing"
	"time"

	"handover/internal/lab/harness"
	"handover/internal/lab/soak"
	"handover/internal/lab/stack/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, harness.RemovePrograms) }

// A small soak on servers of its own: every process is killed at least once.
func TestNothingIsLostOrDoneTwiceWhileEverythingFails(t *testing.T) {
	t.Parallel()
	report, err := soak.Run(t.Context(), soak.Options{N: 25, Seed: 223, Dir: t.TempDir(), Program: testenv.TemporalCLI(t), Settle: 2 * time.Minute, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := report.Print(&text); err != nil {
		t.Fatal(err)
	}
	if len(report.Violations) > 0 || len(report.Problems) > 0 {
		t.Error(text.String())
	}
	t.Log(text.String())
}
