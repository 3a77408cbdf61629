package pgtest

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// CPU is how much CPU this process, and the server of a pool with all its sessions, have used.
type CPU struct{ Own, Server time.Duration }

// UsedCPU returns how much it was so far.
func UsedCPU(tb testing.TB, pool *pgxpool.Pool) (c CPU) {
	tb.Helper()
	var session int
	if err := pool.QueryRow(tb.Context(), `SELECT pg_backend_pid()`).Scan(&session); err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	var err error
	if c.Server, err = process.CPU(process.Parent(session)); err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	if c.Own, err = process.OwnCPU(); err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	return c
}

// Since returns what was used after an earlier time.
func (c CPU) Since(earlier CPU) CPU { return CPU{c.Own - earlier.Own, c.Server - earlier.Server} }

// Total returns both together.
func (c CPU) Total() time.Duration { return c.Own + c.Server }
