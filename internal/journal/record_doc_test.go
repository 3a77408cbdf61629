package journal_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/pgtest"
)

// recordPage is what an auditor has; the tests below use nothing else of it
// than its text.
const recordPage = "../../docs/reference/journal-record.md"

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(recordPage)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The worked example of the page is what this package computes: every field's
// bytes, their number, the hash and the root.
func TestPageShowsTheEncoding(t *testing.T) {
	t.Parallel()

	page := readPage(t)
	_, example, found := strings.Cut(page, "\n## An example\n")
	if !found {
		t.Fatal("the page has no example")
	}
	example, _, _ = strings.Cut(example, "\n## ")
	entry, documented := exampleOf(t, example)

	if diff := cmp.Diff(hex.EncodeToString(entry.Encode()), hex.EncodeToString([]byte("lineproof journal record 1\n"))+documented); diff != "" {
		t.Errorf("the bytes of the example (-computed +page):\n%s", diff)
	}
	hash := entry.Hash()
	root, err := journal.Root([][]byte{hash[:]})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		fmt.Sprintf("\nhash = %x\n", hash), fmt.Sprintf("\nroot = %x\n", root), fmt.Sprintf("these are %d bytes", len(entry.Encode())),
	} {
		if !strings.Contains(example, line) {
			t.Errorf("the example does not say: %s", strings.TrimSpace(line))
		}
	}
	if at, err := journal.TimeOf(entry.RequestID); err != nil || !at.Equal(entry.At) {
		t.Errorf("the example's id carries %v, %v, not the example's time", at, err)
	}
}

var exampleRow = regexp.MustCompile("(?m)^\\| ([a-zA-Z]+) \\| (?:`([^`]*)`|\\(empty\\)) \\| `([0-9a-f ]+)` \\|$")

// exampleOf reads the table of the example: the entry that its values make, and
// its bytes in hexadecimal.
func exampleOf(t *testing.T, example string) (e journal.Entry, documented string) {
	t.Helper()
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Errorf("not a number: %v", err)
		}
		return n
	}
	fields := map[string]func(string){
		"requestId":     func(s string) { e.RequestID = uuid.MustParse(s) },
		"at":            func(s string) { e.At, _ = time.Parse(time.RFC3339Nano, s) },
		"entity":        func(s string) { e.Entity = uuid.MustParse(s) },
		"key":           func(s string) { e.Key = uuid.MustParse(s) },
		"mode":          func(s string) { e.Mode = s },
		"purpose":       func(s string) { e.Purpose = s },
		"correlator":    func(s string) { e.Correlator = s },
		"number":        func(s string) { e.Number = number(s) },
		"phoneNumber":   func(s string) { e.PhoneNumber = s },
		"options":       func(s string) { e.Options = s },
		"status":        func(s string) { e.Status = s },
		"mobileNetwork": func(s string) { e.MobileNetwork = s },
		"lineVersion":   func(s string) { e.LineVersion = number(s) },
		"policyVersion": func(s string) { e.PolicyVersion = int32(number(s)) },
		"planVersion":   func(s string) { e.PlanVersion = int32(number(s)) },
		"nonce":         func(s string) { _, _ = hex.Decode(e.Nonce[:], []byte(s)) },
	}
	var bytes strings.Builder
	for _, row := range exampleRow.FindAllStringSubmatch(example, -1) {
		set, ok := fields[row[1]]
		if !ok {
			t.Fatalf("the example has a field %s, which a record does not have or which stands twice", row[1])
		}
		set(row[2])
		delete(fields, row[1])
		bytes.WriteString(strings.ReplaceAll(row[3], " ", ""))
	}
	for missing := range fields {
		t.Errorf("the example lacks the field %s", missing)
	}
	return e, bytes.String()
}

// The statement of the page needs no more than the reading role, has nothing to
// say about records that this package wrote, and finds a changed record, a lost
// one and a changed root.
func TestPageChecksWithSQL(t *testing.T) {
	t.Parallel()

	_, statement, found := strings.Cut(readPage(t), "\n```sql\n")
	if !found {
		t.Fatal("the page has no statement")
	}
	statement, _, _ = strings.Cut(statement, "```")
	url := pgtest.URL(t)
	complaints := func() []string {
		rows, err := pgtest.Open(t, url, pg.Read).Query(t.Context(), statement)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			var what, which string
			err := row.Scan(&what, &which)
			return what + " " + which, err
		})
		if err != nil {
			t.Fatal(err)
		}
		return slices.Sorted(slices.Values(got))
	}
	records, err := journal.Open(t.Context(), pgtest.Open(t, url, pg.Serve), "node-1")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().UTC().Truncate(time.Millisecond)
	write := func(sent ...string) (ids []string) {
		var batch []journal.Entry
		for _, s := range sent {
			e := journal.Entry{
				RequestID: journal.NewRequestID(at), At: at, Entity: uuid.New(), Key: uuid.New(), Mode: "test", Purpose: "Kontoeröffnung",
				Number: 2348031234567, PhoneNumber: s, Status: "NORMAL", MobileNetwork: "MTN", LineVersion: 1 << 40, Nonce: journal.NewNonce(),
			}
			batch, ids = append(batch, e), append(ids, e.RequestID.String())
		}
		if err := records.Append(t.Context(), batch...); err != nil {
			t.Fatal(err)
		}
		return ids
	}
	changed, lost := write("08031234567"), write("+234 803 123 4567", "0803-1234567")
	write("(0803) 123 45 67")
	if got := complaints(); len(got) != 0 {
		t.Errorf("complaints about records as they were written: %v", got)
	}
	owner := pgtest.Open(t, url, "")
	for _, plant := range []struct {
		sql string
		arg any
	}{
		{"UPDATE journal_entry SET status = 'BARRED' WHERE request_id = $1", changed[0]},
		{"DELETE FROM journal_entry WHERE request_id = $1", lost[1]},
		{"UPDATE journal_batch SET root = sha256('x') WHERE n = $1", 3},
	} {
		if tag, err := owner.Exec(t.Context(), plant.sql, plant.arg); err != nil || tag.RowsAffected() != 1 {
			t.Fatalf("%s: %v, %v", plant.sql, tag, err)
		}
	}
	want := []string{"batch node-1 1 2", "batch node-1 1 3", "record " + changed[0]}
	if diff := cmp.Diff(want, complaints()); diff != "" {
		t.Errorf("what was planted (-want +found):\n%s", diff)
	}
}
