package main

import (
	"testing"

	"handover/internal/lab/harness"
	"handover/internal/lab/stack/testenv"
	"handover/internal/temporalclient"
)

func TestMain(m *testing.M) { testenv.Main(m, harness.RemovePrograms) }

// The reconciliation would deliver the paid sessions that the benchmark prepares.
func TestTheScheduleDoesNotRunInTheBenchmark(t *testing.T) {
	t.Parallel()
	s, err := harness.Open(harness.Config{
		Dir: t.TempDir(), DatabaseURL: testenv.Database(t), TemporalAddress: testenv.TemporalAddress(t), TaskQueue: testenv.TaskQueue(t), Direct: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.StartWorker(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := pauseSchedule(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	state, err := temporalclient.ReadSchedule(t.Context(), s.Temporal, s.TaskQueue)
	if err != nil || state != temporalclient.SchedulePaused {
		t.Errorf("the schedule is %s, %v", state, err)
	}
}
