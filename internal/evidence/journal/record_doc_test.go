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

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// recordPage is what an auditor has; the tests below use nothing else of it
// than its text.
const recordPage = "../../../docs/reference/journal-record.md"

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(recordPage)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The worked example of the page is what this package computes: every field's bytes,
// their number, the hashes and the root.
func TestPageShowsTheEncoding(t *testing.T) {
	t.Parallel()

	entry := exampleEntry(t)
	if at, ok := record.TimeOf(entry.RequestID); !ok || !at.Equal(entry.At) {
		t.Errorf("the example's id carries %v, not the example's time", at)
	}
	example := section(t, "An example")
	public, personal, _ := strings.Cut(example, "\n### The personal part\n")
	for _, part := range []struct {
		shown, name string
		encoded     []byte
	}{
		{public, "lineproof record 1\n", entry.EncodePublic()},
		{personal, "lineproof personal part 1\n", entry.EncodePersonal()},
	} {
		var documented strings.Builder
		documented.WriteString(hex.EncodeToString([]byte(part.name)))
		for _, f := range readExample(part.shown) {
			if f.name != "nonce" {
				documented.WriteString(f.bytes)
			}
		}
		if diff := cmp.Diff(hex.EncodeToString(part.encoded), documented.String()); diff != "" {
			t.Errorf("the bytes of the example (-computed +page):\n%s", diff)
		}
		if said := fmt.Sprintf("these are %d bytes", len(part.encoded)); !strings.Contains(part.shown, said) {
			t.Errorf("the example does not say: %s", said)
		}
	}
	hash, inner := entry.Hash(), entry.InnerHash()
	root, err := merkle.Root([][]byte{hash[:]})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{fmt.Sprintf("\npersonalHash = %x\n", inner), fmt.Sprintf("\nhash         = %x\n", hash), fmt.Sprintf("\nroot         = %x\n", root)} {
		if !strings.Contains(example, line) {
			t.Errorf("the example does not say: %s", strings.TrimSpace(line))
		}
	}
}

// section returns a section of the page.
func section(t *testing.T, title string) string {
	t.Helper()
	_, text, found := strings.Cut(readPage(t), "\n## "+title+"\n")
	if !found {
		t.Fatalf("the page has no section %q", title)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// exampleField is one row of an example: a field, its value and its bytes in
// hexadecimal.
type exampleField struct{ name, value, bytes string }

var exampleRow = regexp.MustCompile("(?m)^\\| ([a-zA-Z]+) \\| (?:`([^`]*)`|\\(empty\\)) \\| `([0-9a-f ]+)` \\|$")

func readExample(example string) (fields []exampleField) {
	for _, row := range exampleRow.FindAllStringSubmatch(example, -1) {
		fields = append(fields, exampleField{row[1], row[2], strings.ReplaceAll(row[3], " ", "")})
	}
	return fields
}

// exampleEntry returns the entry that the page shows.
func exampleEntry(t *testing.T) (e record.Entry) {
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
		"type":          func(s string) { e.Type = s },
		"entity":        func(s string) { e.Entity = uuid.MustParse(s) },
		"key":           func(s string) { e.Key = uuid.MustParse(s) },
		"mode":          func(s string) { e.Mode = s },
		"purpose":       func(s string) { e.Purpose = s },
		"purposeText":   func(s string) { e.PurposeText = s },
		"status":        func(s string) { e.Status = s },
		"reason":        func(s string) { e.Reason = s },
		"mobileNetwork": func(s string) { e.MobileNetwork = s },
		"lineVersion":   func(s string) { e.LineVersion = number(s) },
		"policyVersion": func(s string) { e.PolicyVersion = int32(number(s)) },
		"planVersion":   func(s string) { e.PlanVersion = int32(number(s)) },
		"rules":         func(s string) { e.Rules = int32(number(s)) },
		"coverage":      func(s string) { _, _ = hex.Decode(e.Coverage[:], []byte(s)) },
		"number":        func(s string) { e.Number = number(s) },
		"phoneNumber":   func(s string) { e.PhoneNumber = s },
		"correlator":    func(s string) { e.Correlator = s },
		"externalId":    func(s string) { e.ExternalID = s },
		"onBehalfOf":    func(s string) { e.OnBehalfOf = s },
		"options":       func(s string) { e.Options = s },
		"extra":         func(s string) { e.Extra = s },
		"nonce":         func(s string) { _, _ = hex.Decode(e.Nonce[:], []byte(s)) },
	}
	for _, f := range readExample(section(t, "An example")) {
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

	url := pgtest.URL(t)
	records, err := journal.Open(t.Context(), pgtest.Open(t, url, pg.Serve), "node-1", 2)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().UTC().Truncate(time.Millisecond)
	write := func(extra string, sent ...string) (ids []string) {
		var batch []record.Entry
		for _, s := range sent {
			e := record.Entry{
				RequestID: record.NewRequestID(at), At: at, Type: "number", Entity: uuid.New(), Key: uuid.New(), Mode: "test", Purpose: "other",
				PurposeText: "Kontoeröffnung", Status: "NORMAL", MobileNetwork: "MTN", LineVersion: 1 << 40, Nonce: record.NewNonce(),
				Personal: record.Personal{Number: 2348031234567, PhoneNumber: s, Extra: extra},
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
	if got := complaints(t, url); len(got) != 0 {
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
	if diff := cmp.Diff(want, complaints(t, url)); diff != "" {
		t.Errorf("what was planted (-want +found):\n%s", diff)
	}
}

// complaints returns what the statement of the page finds.
func complaints(t *testing.T, url string) []string {
	t.Helper()
	_, statement, found := strings.Cut(readPage(t), "\n```sql\n")
	if !found {
		t.Fatal("the page has no statement")
	}
	statement, _, _ = strings.Cut(statement, "```")
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
