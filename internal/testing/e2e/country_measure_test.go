package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// copyAtMost bounds what is copied for comparison: the file lies on disk.
const copyAtMost = 20_000_000

// copy measures PostgreSQL's own COPY of a network's rows into a table like
// line_now, scaled to all of them.
func (n *country) copy(network string) time.Duration {
	n.t.Helper()
	ctx := n.t.Context()
	exec := func(statement string) {
		if _, err := n.pool.Exec(ctx, statement); err != nil {
			n.t.Fatalf("%s: %v", statement, err)
		}
	}
	dir := n.t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil { // the database server writes there as another user
		n.t.Fatal(err)
	}
	_ = os.Chmod(filepath.Dir(dir), 0o777)
	file := dir + "/rows"
	var all int64
	if err := n.pool.QueryRow(ctx, `SELECT count(*) FROM line_now WHERE network = (SELECT id FROM network WHERE name = $1)`, network).Scan(&all); err != nil {
		n.t.Fatal(err)
	}
	exec(fmt.Sprintf(`COPY (SELECT * FROM line_now WHERE network = (SELECT id FROM network WHERE name = '%s') ORDER BY number LIMIT %d) TO '%s'`, network, copyAtMost, file))
	exec(`CREATE TABLE copied (LIKE line_now INCLUDING ALL)`)
	defer exec(`DROP TABLE copied`)
	start := time.Now()
	exec(fmt.Sprintf(`COPY copied FROM '%s'`, file))
	took := time.Since(start)
	if err := os.Remove(file); err != nil {
		n.t.Fatal(err)
	}
	return time.Duration(float64(took) * float64(all) / float64(min(all, copyAtMost)))
}

// compareVerify asks both nations in turn, one request at a time, and returns
// the times in words.
func compareVerify(t *testing.T, little, large *country, questions int) string {
	t.Helper()
	nations := []*country{little, large}
	var took [2][]time.Duration
	var ask [2]func(phone.Number)
	var numbers [2][]phone.Number
	for i, n := range nations {
		numbers[i] = n.some(questions)
		records, err := journal.Open(t.Context(), n.pool, nodeName, 2)
		if err != nil {
			t.Fatal(err)
		}
		v := &verify.Verifier{Journal: records, Lines: &linestore.Resolver{}, Now: time.Now, MaxBatch: 1, MaxInFlight: 1, MaxQueue: 16, Timeout: time.Minute}
		ask[i] = func(number phone.Number) {
			if _, err := v.Verify(context.WithoutCancel(t.Context()), verify.Request{Entity: uuid.New(), Key: uuid.New(), Mode: "live", Number: number, RawNumber: number.E164()}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for q := range questions {
		for i := range nations {
			start := time.Now()
			ask[i](numbers[i][q%len(numbers[i])])
			took[i] = append(took[i], time.Since(start))
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	at := func(i int, p float64) time.Duration {
		return took[i][int(p*float64(len(took[i])-1))].Round(time.Microsecond)
	}
	return fmt.Sprintf("p50 %v and %v (%.2f), p99 %v and %v (%.2f), %d questions each", at(0, .5), at(1, .5), float64(at(1, .5))/float64(at(0, .5)),
		at(0, .99), at(1, .99), float64(at(1, .99))/float64(at(0, .99)), questions)
}

// some returns numbers of the largest network, from all over its lines: as many
// pages of the table as requests, if it is large enough.
func (n *country) some(count int) []phone.Number {
	n.t.Helper()
	plan, err := numbering.Current(n.t.Context(), n.pool, time.Now())
	if err != nil {
		n.t.Fatal(err)
	}
	network, _ := plan.Network(shares[0].network)
	var lines int64
	var asOf time.Time
	if err := n.pool.QueryRow(n.t.Context(), `SELECT rows, as_of FROM supply_import ORDER BY id LIMIT 1`).Scan(&lines, &asOf); err != nil {
		n.t.Fatal(err)
	}
	roll, err := linefile.SyntheticNetwork{Seed: 1, Plan: plan, Network: network, Lines: lines, AsOf: asOf}.Generator()
	if err != nil {
		n.t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	all := make([]phone.Number, count)
	for i := range all {
		all[i], _ = roll.At(random.Int64N(lines))
	}
	return all
}
