//go:build !linux

package stack

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// childAttributes has no parent-death signal here: what a killed supervisor leaves behind is stopped by the next start.
func childAttributes(account *Account) *syscall.SysProcAttr {
	attributes := account.attributes()
	attributes.Setpgid = true
	return attributes
}

// identity tells one process from a later one with the same number. It is empty when there is none, or only a zombie.
func identity(pid int) string {
	out, err := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	state, started, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || strings.HasPrefix(state, "Z") {
		return ""
	}
	return strings.TrimSpace(started)
}

// runsIn says whether the process is a Postgres server with this data directory.
func runsIn(pid int, data string) bool {
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(out), data)
}

func descendants(pid int) []int {
	out, err := exec.Command("ps", "-axo", "pid=,ppid=").Output()
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) == 2 {
			child, _ := strconv.Atoi(fields[0])
			parent, _ := strconv.Atoi(fields[1])
			children[parent] = append(children[parent], child)
		}
	}
	return under(children, pid)
}
