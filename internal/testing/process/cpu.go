package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is the unit of times in /proc.
const tick = 10 * time.Millisecond

// OwnCPU returns how much CPU this process has used.
func OwnCPU() (time.Duration, error) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0, fmt.Errorf("process: own CPU: %w", err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), nil
}

// CPU returns how much CPU a process has used, with its children and those that have
// ended.
func CPU(pid int) (total time.Duration, err error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, fmt.Errorf("process: list the processes: %w", err)
	}
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])) // state, parent, ...; user and system time are the 12th and 13th
		if len(fields) < 15 {
			continue
		}
		used := fields[11:13]
		switch own, _, _ := strings.Cut(string(text), " "); {
		case own == strconv.Itoa(pid):
			used = fields[11:15] // and those of children that have ended
		case fields[1] != strconv.Itoa(pid):
			continue
		}
		for _, f := range used {
			ticks, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("process: %s: %w", name, err)
			}
			total += time.Duration(ticks) * tick
		}
	}
	return total, nil
}

// Parent returns the process that started another one.
func Parent(pid int) int {
	_, parent, _ := readStat("/proc/" + strconv.Itoa(pid) + "/stat")
	return parent
}
