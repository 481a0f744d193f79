package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// errNoProc: processor time and memory are read from Linux's /proc.
var errNoProc = errors.New("this system has no /proc")

// tick is the unit of the times in /proc/PID/stat; it is the same on every Linux that Go runs on.
const tick = time.Second / 100

// stat is what is read of /proc/PID/stat (man 5 proc_pid_stat).
type stat struct {
	parent        int
	own, children time.Duration // user and system time; children's only of those that have ended
}

func parseStat(text []byte) (stat, error) {
	// The second field, the program's name, may hold spaces and brackets.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 15 {
		return stat{}, fmt.Errorf("not a /proc/PID/stat: %q", text)
	}
	var numbers [5]int64
	for i, at := range []int{1, 11, 12, 13, 14} {
		n, err := strconv.ParseInt(fields[at], 10, 64)
		if err != nil {
			return stat{}, err
		}
		numbers[i] = n
	}
	return stat{
		parent:   int(numbers[0]),
		own:      time.Duration(numbers[1]+numbers[2]) * tick,
		children: time.Duration(numbers[3]+numbers[4]) * tick,
	}, nil
}

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	return parseStat(text)
}

// processCPU is what a process has used.
func processCPU(pid int) (time.Duration, error) {
	s, err := readStat(pid)
	return s.own, err
}

// familyCPU is what a process has used with all its children, those that have ended included: Postgres' server and its
// backends.
func familyCPU(pid int) (time.Duration, error) {
	s, err := readStat(pid)
	if err != nil {
		return 0, err
	}
	sum := s.own + s.children
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, entry := range entries {
		id, _ := strconv.Atoi(filepath.Base(entry))
		if child, err := readStat(id); err == nil && child.parent == pid {
			sum += child.own + child.children
		}
	}
	return sum, nil
}

// resident is the memory that a process holds now, in bytes.
func resident(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10, err
		}
	}
	return 0, errNoProc
}
