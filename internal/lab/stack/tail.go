package stack

import (
	"bytes"
	"os"
	"slices"
	"strings"
)

// Tail returns the last lines of a log file, each indented by four spaces, passing over those that contain one of the
// given texts. It is empty when there is nothing to show.
func Tail(path string, lines int, without ...string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	all := strings.Split(string(bytes.TrimRight(text, "\n")), "\n")
	if len(text) == 0 {
		return ""
	}
	all = slices.DeleteFunc(all, func(line string) bool {
		return slices.ContainsFunc(without, func(noise string) bool { return strings.Contains(line, noise) })
	})
	all = all[max(0, len(all)-lines):]
	return "    " + strings.Join(all, "\n    ") + "\n"
}
