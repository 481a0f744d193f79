package crash_test

import (
	"testing"

	"handover/internal/lab/harness"
	"handover/internal/lab/stack/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, harness.RemovePrograms) }
