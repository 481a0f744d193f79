package crashtest_test

import (
	"os"
	"testing"

	"handover/internal/crashtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	crashtest.CleanUp()
	os.Exit(code)
}
