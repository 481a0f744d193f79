package soak_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"handover/internal/lab/crash"
	"handover/internal/lab/soak"
	"handover/internal/lab/stack/testenv"
)

func TestMain(m *testing.M) {
	code := m.Run()
	crash.CleanUp()
	os.Exit(code)
}

// A small soak on servers of its own: every process is killed at least once.
func TestNothingIsLostOrDoneTwiceWhileEverythingFails(t *testing.T) {
	t.Parallel()
	report := soak.Run(t, soak.Options{N: 25, Seed: 223, Dir: t.TempDir(), Program: testenv.TemporalCLI(t), Settle: 2 * time.Minute, Say: t.Output()})
	var text bytes.Buffer
	if err := report.Print(&text); err != nil {
		t.Fatal(err)
	}
	if len(report.Violations) > 0 || len(report.Problems) > 0 {
		t.Error(text.String())
	}
	t.Log(text.String())
}
