package crash_test

import (
	"os"
	"testing"

	"handover/internal/lab/crash"
)

func TestMain(m *testing.M) {
	code := m.Run()
	crash.CleanUp()
	os.Exit(code)
}
