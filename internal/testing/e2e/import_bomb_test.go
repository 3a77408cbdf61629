package e2e_test

import (
	"bufio"
	"encoding/base64"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// A small file that decompresses to many rows does not delay the file of another
// network by more than ten seconds, whatever the rows are.
func TestBombDelaysNobody(t *testing.T) {
	rows := size(t, "LINEPROOF_E2E_BOMB_ROWS", 1_000_000)
	w := newFixture(t, startDurable(t)())
	tokenOf := func(network string) string {
		return w.newToken(t, must(w.keeper.CreateClient(t.Context(), access.ClientForm{Name: network, Scopes: []string{"line:supply"}, Network: network}, access.Operator, uuid.Nil))(t))
	}
	harmful, other := tokenOf("AMBER"), tokenOf("INDIGO")
	p := start(t, w)
	asOf := time.Now().UTC().Truncate(time.Second).AddDate(0, 0, -10)
	for _, row := range []string{"x", "a,+2348020000001,USED,2026-05-10,,,,,,"} {
		bomb := bombFile(t, row, rows)
		sent := must(sendFile(t.Context(), p.public, harmful, bomb))(t)
		for _, state := range []string{"checking", "applying"} {
			seen := must(importState(t.Context(), p.public, harmful, sent.ImportID))(t)
			for seen.State == "checking" && state == "applying" || seen.State == state && seen.Rows == 0 {
				if err := pass(t.Context(), 20*time.Millisecond); err != nil {
					t.Fatal(err)
				}
				seen = must(importState(t.Context(), p.public, harmful, sent.ImportID))(t)
			}
			asOf = asOf.Add(time.Minute)
			one := newSupplyFile(t, "snapshot", asOf, w.nation(t, "INDIGO", 1, asOf).Snapshot, nil)
			begin := time.Now()
			if err := importWhole(t.Context(), p.public, other, one, func(string) {}); err != nil {
				t.Fatal(err)
			}
			delay := time.Since(begin)
			seen = must(importState(t.Context(), p.public, harmful, sent.ImportID))(t)
			t.Logf("bomb of %d bytes, %d rows %q: another network's file of one row was applied after %v, when the bomb was %s with %d rows (%s)",
				must(os.Stat(bomb.path))(t).Size(), rows, row, delay.Round(time.Millisecond), seen.State, seen.Rows, seen.Reason)
			if delay > process.Goal(10*time.Second) {
				t.Errorf("the other file was delayed by %v", delay)
			}
		}
		seen := must(importState(t.Context(), p.public, harmful, sent.ImportID))(t)
		if seen.State == "checking" || seen.State == "applying" {
			if _, err := w.pool.Exec(t.Context(), `UPDATE supply_import SET state = 'cancelled', finished_at = now() WHERE uid = $1`, sent.ImportID); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// bombFile writes a compressed file of events whose rows are all the same, with so
// many random rows between them that it is not rejected for its compression.
func bombFile(t *testing.T, row string, rows int) supplyFile {
	t.Helper()
	f := must(os.CreateTemp(t.TempDir(), "bomb-*.csv.zst"))(t)
	z := must(zstd.NewWriter(f))(t)
	to, random := bufio.NewWriter(z), rand.NewChaCha8([32]byte{1})
	_, err := io.WriteString(to, "id,number,type,effectiveAt,network,level,reason,churnAt,voids,note\n")
	noise, written := make([]byte, 3000), 0
	const interval = 1_000_000 // bytes between two random rows
	block := strings.Repeat(row+"\n", interval/(len(row)+1))
	for err == nil && written < rows {
		_, _ = random.Read(noise) // it never fails
		_, err = to.WriteString(base64.StdEncoding.EncodeToString(noise) + "\n" + block)
		written += strings.Count(block, "\n") + 1
	}
	if err := errors.Join(err, to.Flush(), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return supplyFile{kind: "events", path: f.Name()}
}
