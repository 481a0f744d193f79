package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

func childAttributes(account *Account) *syscall.SysProcAttr {
	attributes := account.attributes()
	attributes.Setpgid = true
	attributes.Pdeathsig = syscall.SIGKILL
	return attributes
}

// identity tells one process from a later one with the same number. It is empty when there is none, or only a zombie:
// where nobody reaps, a dead process keeps its number for ever.
func identity(pid int) string {
	fields := statFields(pid)
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(boot)) + " " + fields[19]
}

// statFields are the fields of /proc/PID/stat from the third on, the state (man 5 proc_pid_stat). The second, the
// program's name, may hold spaces and brackets of its own.
func statFields(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	end := strings.LastIndexByte(string(text), ')')
	return strings.Fields(string(text[end+1:]))
}

// runsIn says whether the process is a Postgres server with this data directory: it makes that its working directory.
func runsIn(pid int, data string) bool {
	directory, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	return err == nil && samePath(directory, data) && identity(pid) != ""
}

func descendants(pid int) []int {
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, entry := range entries {
		child, err := strconv.Atoi(filepath.Base(entry))
		if err != nil {
			continue
		}
		if fields := statFields(child); len(fields) > 1 {
			parent, _ := strconv.Atoi(fields[1])
			children[parent] = append(children[parent], child)
		}
	}
	return under(children, pid)
}
