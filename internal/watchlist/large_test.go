package watchlist_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/watchlist"
)

// cpu is the processor time of this process and of all processes of the database.
type cpu struct{ own, database time.Duration }

func (c cpu) since(before cpu) cpu { return cpu{c.own - before.own, c.database - before.database} }

func (c cpu) String() string {
	return fmt.Sprintf("%.2f s (own %.2f, database %.2f)", (c.own + c.database).Seconds(), c.own.Seconds(), c.database.Seconds())
}

func usage(t *testing.T, pool *pgxpool.Pool) (c cpu) {
	t.Helper()
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		t.Fatal(err)
	}
	c.own = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	var backend int
	if err := pool.QueryRow(t.Context(), `SELECT pg_backend_pid()`).Scan(&backend); err != nil {
		t.Fatal(err)
	}
	master := stat(backend)[1] // the parent of a backend
	found, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range found {
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		of := stat(pid)
		const tick = 10 * time.Millisecond
		switch {
		case len(of) < 15:
		case pid == master: // with those of its processes that have ended
			c.database += time.Duration(of[11]+of[12]+of[13]+of[14]) * tick
		case of[1] == master:
			c.database += time.Duration(of[11]+of[12]) * tick
		}
	}
	return c
}

// stat returns the numbers of /proc/pid/stat after the name: state, parent, and so on.
func stat(pid int) (values []int) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	for field := range bytes.FieldsSeq(text[bytes.LastIndexByte(text, ')')+1:]) {
		n, _ := strconv.Atoi(string(field))
		values = append(values, n)
	}
	return values
}

// A list of a nation's size is stored in a few bytes for each number, and a change is
// matched with it at little cost. LINEPROOF_E2E_LIST is how many numbers it has (50,000);
// they are every fifth number, in the order of a file.
func TestLargeListIsSmall(t *testing.T) {
	t.Parallel()

	size := 50_000
	if n, err := strconv.Atoi(os.Getenv("LINEPROOF_E2E_LIST")); err == nil {
		size = n
	}
	e := newEnv(t)
	o := e.bank("live", 0)
	numbers := func(yield func(phone.Number, error) bool) {
		for i := range size {
			if !yield(number(i*5), nil) {
				return
			}
		}
	}
	id := e.create(o)
	before := usage(t, e.pool)
	l, err := e.Replace(t.Context(), o, id, numbers, false)
	if err != nil {
		t.Fatal(err)
	}
	loaded := usage(t, e.pool).since(before)
	var bytes int64
	if err := e.pool.QueryRow(t.Context(), `SELECT pg_total_relation_size('watch_block')`).Scan(&bytes); err != nil {
		t.Fatal(err)
	}
	if l.Members != int64(size) {
		t.Fatalf("the list has %d members", l.Members)
	}
	if _, err := e.pool.Exec(t.Context(), `UPDATE watch_list SET state = 'active'`); err != nil { // nobody supplies these lines
		t.Fatal(err)
	}
	const changes, batch = 50_000, 1_000
	random := rand.New(rand.NewPCG(3, 4))
	matched := 0
	before = usage(t, e.pool)
	for range changes / batch {
		some := make([]phone.Number, batch)
		for i := range some {
			some[i] = number(random.IntN(5 * size))
		}
		if err := pg.InTx(t.Context(), e.pool, func(tx pg.Tx) error {
			found, err := watchlist.MatchLive(t.Context(), tx, some)
			matched += len(found)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	cost := usage(t, e.pool).since(before)
	t.Logf("%d numbers: %.2f bytes each with the indexes, loaded with %v of CPU, numbers counted and judged included; %d of %d random changes matched, %.1f µs of CPU each",
		size, float64(bytes)/float64(size), loaded, matched, changes, float64((cost.own+cost.database).Microseconds())/changes)
	if matched < changes/6 {
		t.Errorf("%d of %d changes were matched, about a fifth of them are in the list", matched, changes)
	}
}
