package operate

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// setting is a setting of PostgreSQL that suits the service on a machine.
type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Why   string `json:"why"`
}

// smallest is the memory below which PostgreSQL's own defaults are right.
const smallest = 2 << 30

// tuning returns settings for a machine that PostgreSQL has to itself, to which some
// nodes connect. The sizes follow the memory; docs/how-to/tune-postgresql.md says more.
func tuning(memory int64, connections int) []setting {
	size := func(bytes int64) string { return fmt.Sprintf("%dMB", bytes>>20) }
	all := []setting{
		{"max_connections", strconv.Itoa(max(100, connections+20)), "the nodes, and a few for people and tools"},
		{"min_wal_size", "4GB", "old segments of the log are used again; making a new one stalls commits"},
		{"max_wal_size", "16GB", "checkpoints come by time and not because a file was imported"},
		{"checkpoint_timeout", "30min", "each page is written in full once after a checkpoint; fewer checkpoints are less log"},
		{"checkpoint_completion_target", "0.9", "a checkpoint is spread over its interval"},
		{"wal_compression", "lz4", "those pages are the largest part of the log"},
		{"wal_buffers", "64MB", "an import does not wait for the log to be written"},
		{"random_page_cost", "1.1", "on an SSD a line is looked up by index, whatever the size of the table"},
		{"track_io_timing", "on", "shows whether a slow query waited for the disk"},
		{"log_checkpoints", "on", "shows what a stall coincides with"},
	}
	if memory < smallest {
		return all
	}
	return append(all,
		setting{"shared_buffers", size(memory / 4), "the index of lines stays in memory"},
		setting{"effective_cache_size", size(memory * 5 / 8), "what the system keeps of the files beside that"},
		setting{"maintenance_work_mem", size(min(memory/16, 2<<30)), "indexes are built in memory"},
	)
}

// writeTuning writes settings in the form of postgresql.conf.
func writeTuning(out io.Writer, all []setting) error {
	for _, s := range all {
		if _, err := fmt.Fprintf(out, "%-46s # %s\n", s.Name+" = "+s.Value, s.Why); err != nil {
			return fmt.Errorf("doctor: write: %w", err)
		}
	}
	return nil
}

// memoryOfMachine returns the memory of this machine, or 0.
func memoryOfMachine() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var kib int64
		if n, _ := fmt.Sscanf(strings.TrimSpace(lines.Text()), "MemTotal: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	return 0
}
