package e2e_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line"
)

// firstAsked is the first of the lines that are asked about while files of
// another network are imported.
const firstAsked = 234_805_000_0000

// Verifications are answered correctly while the same server imports a file, and
// the additional latency is measured.
func TestVerifyDuringImport(t *testing.T) {
	rows, rate := int64(size(t, "LINEPROOF_E2E_IMPORT_ROWS", 60_000)), size(t, "LINEPROOF_E2E_RATE", 100)
	calm := time.Duration(size(t, "LINEPROOF_E2E_SECONDS", 3)) * time.Second
	w := newFixture(t, startDurable(t)())
	plantAsked(t, w, rows)
	supplier := must(w.keeper.CreateClient(t.Context(), access.ClientForm{Name: "Amber", Scopes: []string{"line:supply"}, Network: "AMBER"}, access.Operator, uuid.Nil))(t)
	token := w.newToken(t, supplier)
	now := time.Now().UTC().Truncate(time.Second)
	nation := w.nation(t, "AMBER", rows, now.AddDate(0, 0, -10))
	files := []supplyFile{
		newSupplyFile(t, "snapshot", nation.AsOf, nation.Snapshot, nil),
		newSupplyFile(t, "events", now, func(to io.Writer) error {
			return nation.Changes(to, max(rows/5, 1), nation.AsOf, now.Add(-time.Hour), false)
		}, nil),
	}
	p := start(t, w)
	l := &openLoop{world: w, address: p.public, rate: rate, asked: rows}

	idle := func(ctx context.Context) error { return pass(ctx, calm) }
	l.run(t, &phase{name: "while it warms up"}, idle)
	without := &phase{name: "without an import"}
	var with []*phase
	for _, f := range files {
		l.run(t, without, idle)
		during := &phase{name: "with an import (" + f.kind + ")"}
		l.run(t, during, func(ctx context.Context) error { return importWhole(ctx, p.public, token, f, during.mark) })
		with = append(with, during)
	}
	l.run(t, without, idle)

	without.report(t)
	for _, during := range with {
		during.report(t)
		for _, part := range during.parts() {
			part.report(t)
		}
		ratio := float64(during.quantile(0.99)) / float64(without.quantile(0.99))
		t.Logf("%s: p99 is %.2f times that without", during.name, ratio)
		if most := os.Getenv("LINEPROOF_E2E_RATIO"); most != "" && ratio > must(strconv.ParseFloat(most, 64))(t) {
			t.Errorf("%s: p99 is %.2f times that without, more than %s", during.name, ratio, most)
		}
	}
	for _, logged := range p.lines(t) {
		if logged.Level == "ERROR" {
			t.Errorf("the server logged an error: %+v", logged)
		}
	}
}

// plantAsked makes the lines that are asked about: as many as a file brings, so
// that they do not all lie in the same few pages. All are NORMAL, with Indigo.
func plantAsked(t *testing.T, w *fixture, lines int64) {
	t.Helper()
	indigo := w.nation(t, "INDIGO", lines, time.Now()).Network
	_, err := w.pool.Exec(t.Context(), `INSERT INTO line_now (number, version, baseline, network, state, bits, state_since, tenure_start)
		SELECT $1::bigint + n, 1, 1, $3, $4, 0, -100000000, -100000000 FROM generate_series(0, $2::bigint - 1) n`, int64(firstAsked), lines, indigo, line.StateActive)
	if err == nil {
		_, err = w.pool.Exec(t.Context(), `VACUUM ANALYZE line_now`)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// pass lets time pass.
func pass(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// importWhole sends a file and waits until all of it is applied. It notes when
// each part of the work begins.
func importWhole(ctx context.Context, address, token string, f supplyFile, mark func(part string)) error {
	mark("receiving")
	im, err := sendFile(ctx, address, token, f)
	for state := ""; err == nil; im, err = importState(ctx, address, token, im.ImportID) {
		if im.State != state {
			state = im.State
			mark(state)
		}
		switch state {
		case "applied":
			return nil
		case "checking", "applying":
		default:
			return fmt.Errorf("e2e: the import is %s: %s", state, im.Reason)
		}
		if err := pass(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	return err
}
