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
	"github.com/lineproof/lineproof/internal/testing/pgtest"
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

// The worked examples of the page are what this package computes: every field's
// bytes, their number, the hash and the root.
func TestPageShowsTheEncoding(t *testing.T) {
	t.Parallel()

	_, example, found := strings.Cut(readPage(t), "\n## An example\n")
	if !found {
		t.Fatal("the page has no example")
	}
	example, _, _ = strings.Cut(example, "\n## ")
	plain, extended, found := strings.Cut(example, "\n### An example that says more\n")
	if !found {
		t.Fatal("the page has no example of a record that says more")
	}
	fields := readExample(t, plain)
	entry := checkExample(t, plain, "lineproof journal record 1\n", fields)
	if at, err := journal.TimeOf(entry.RequestID); err != nil || !at.Equal(entry.At) {
		t.Errorf("the example's id carries %v, %v, not the example's time", at, err)
	}
	differ := readExample(t, extended)
	if len(differ) < 2 {
		t.Fatal("the second example shows nothing")
	}
	for _, f := range differ {
		if i := slices.IndexFunc(fields, func(x exampleField) bool { return x.name == f.name }); i >= 0 {
			fields[i] = f
		} else {
			behind := slices.IndexFunc(fields, func(x exampleField) bool { return x.name == "mobileNetwork" })
			fields = slices.Insert(fields, behind+1, f)
		}
	}
	checkExample(t, extended, "lineproof journal record 2\n", fields)
}

// exampleField is one row of an example: a field, its value and its bytes in
// hexadecimal.
type exampleField struct{ name, value, bytes string }

var exampleRow = regexp.MustCompile("(?m)^\\| ([a-zA-Z]+) \\| (?:`([^`]*)`|\\(empty\\)) \\| `([0-9a-f ]+)` \\|$")

func readExample(t *testing.T, example string) (fields []exampleField) {
	t.Helper()
	for _, row := range exampleRow.FindAllStringSubmatch(example, -1) {
		fields = append(fields, exampleField{row[1], row[2], strings.ReplaceAll(row[3], " ", "")})
	}
	return fields
}

// checkExample makes the entry of an example, and compares what this package
// computes of it with what the page says.
func checkExample(t *testing.T, example, name string, fields []exampleField) journal.Entry {
	t.Helper()
	entry := entryOf(t, fields, name == "lineproof journal record 2\n")
	var documented strings.Builder
	documented.WriteString(hex.EncodeToString([]byte(name)))
	for _, f := range fields {
		documented.WriteString(f.bytes)
	}
	if diff := cmp.Diff(hex.EncodeToString(entry.Encode()), documented.String()); diff != "" {
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
	return entry
}

// entryOf makes the entry that an example shows.
func entryOf(t *testing.T, shown []exampleField, extended bool) (e journal.Entry) {
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
	if extended {
		fields["extra"] = func(s string) { e.Extra = s }
	}
	for _, f := range shown {
		set, ok := fields[f.name]
		if !ok {
			t.Fatalf("the example has a field %s, which a record does not have or which occurs twice", f.name)
		}
		set(f.value)
		delete(fields, f.name)
	}
	for missing := range fields {
		t.Errorf("the example lacks the field %s", missing)
	}
	return e
}

// The SQL of the page needs only the reading role, finds nothing wrong with records
// that this package wrote, and finds a changed record, a missing one and a changed
// root.
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
	write := func(extra string, sent ...string) (ids []string) {
		var batch []journal.Entry
		for _, s := range sent {
			e := journal.Entry{
				RequestID: journal.NewRequestID(at), At: at, Entity: uuid.New(), Key: uuid.New(), Mode: "test", Purpose: "Kontoeröffnung",
				Number: 2348031234567, PhoneNumber: s, Status: "NORMAL", MobileNetwork: "MTN", Extra: extra, LineVersion: 1 << 40, Nonce: journal.NewNonce(),
			}
			batch, ids = append(batch, e), append(ids, e.RequestID.String())
		}
		if err := records.Append(t.Context(), batch...); err != nil {
			t.Fatal(err)
		}
		return ids
	}
	const more = `{"changedSince":"no","changes":[]}`
	changed, lost := write("", "08031234567"), write(more, "+234 803 123 4567", "0803-1234567")
	write(more, "(0803) 123 45 67")
	turned, emptied, filled := write(more, "08031234567"), write(more, "08031234567"), write("", "08031234567")
	if got := complaints(); len(got) != 0 {
		t.Errorf("complaints about records as they were written: %v", got)
	}
	owner := pgtest.Open(t, url, "")
	for _, plant := range []struct {
		sql string
		arg any
	}{
		{"UPDATE journal_entry SET status = 'BARRED' WHERE request_id = $1", changed[0]},
		{"UPDATE journal_entry SET extra = replace(extra, 'no', 'yes') WHERE request_id = $1", turned[0]},
		{"UPDATE journal_entry SET extra = '' WHERE request_id = $1", emptied[0]},
		{"UPDATE journal_entry SET extra = '{}' WHERE request_id = $1", filled[0]},
		{"DELETE FROM journal_entry WHERE request_id = $1", lost[1]},
		{"UPDATE journal_batch SET root = sha256('x') WHERE n = $1", 3},
	} {
		if tag, err := owner.Exec(t.Context(), plant.sql, plant.arg); err != nil || tag.RowsAffected() != 1 {
			t.Fatalf("%s: %v, %v", plant.sql, tag, err)
		}
	}
	want := []string{"batch node-1 1 2", "batch node-1 1 3", "record " + changed[0], "record " + turned[0], "record " + emptied[0], "record " + filled[0]}
	slices.Sort(want)
	if diff := cmp.Diff(want, complaints()); diff != "" {
		t.Errorf("what was planted (-want +found):\n%s", diff)
	}
}
