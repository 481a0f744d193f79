package dev

import (
	"bytes"
	"os"
	"strings"
)

// Tail returns the last lines of a log file, each indented by four spaces. It is empty when there is nothing to show.
func Tail(path string, lines int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	all := strings.Split(string(bytes.TrimRight(text, "\n")), "\n")
	if len(all) == 1 && all[0] == "" {
		return ""
	}
	all = all[max(0, len(all)-lines):]
	return "    " + strings.Join(all, "\n    ") + "\n"
}
