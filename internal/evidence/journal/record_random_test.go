package journal_test

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	mrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// randomEntry returns a record with random content in every field.
func randomEntry(r *mrand.Rand, at time.Time) (e record.Entry) {
	alphabet := []rune("abc XYZ019+-'\"\\\n\t{}<&>éßñ’ẹ́ọ̀语字😀\u2028")
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			text := make([]rune, r.IntN(40))
			for i := range text {
				text[i] = alphabet[r.IntN(len(alphabet))]
			}
			v.SetString(string(text))
		case reflect.Int32, reflect.Int64:
			v.SetInt(int64(r.Uint32()) - 1<<30)
		case reflect.Array:
			for i := range v.Len() {
				v.Index(i).SetUint(uint64(byte(r.Uint32())))
			}
		case reflect.Struct:
			for _, f := range v.Fields() {
				if f.Type() != reflect.TypeFor[time.Time]() {
					fill(f)
				}
			}
		default:
		}
	}
	fill(reflect.ValueOf(&e).Elem())
	e.RequestID, e.At = record.NewRequestID(at), at
	e.Number += 1 << 49 // what JavaScript reads exactly: numbers have at most 15 digits
	if r.IntN(4) == 0 {
		e.Personal, e.Nonce = record.Personal{}, [16]byte{}
	} else {
		e.Inner = [32]byte{}
	}
	return e
}

// 10,000 random records, a quarter of them erased, have the same hash here, in the
// statement of the page and in its program; and each finds a change of any field.
func TestRandomRecordsHashAlikeEverywhere(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Fatal("this test needs Node.js")
	}
	_, program, _ := strings.Cut(readPage(t), "\n```js\n")
	program, _, _ = strings.Cut(program, "```")
	file := filepath.Join(t.TempDir(), "check.mjs")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	var seed [8]byte
	_, _ = rand.Read(seed[:])
	n := binary.BigEndian.Uint64(seed[:])
	t.Logf("seed %d", n)
	r := mrand.New(mrand.NewPCG(n, 0))
	url := pgtest.URL(t)
	owner := pgtest.Open(t, url, "")
	j := open(t, owner) // all have one time, and the test may take longer than a minute
	now := time.Now().UTC().Truncate(time.Millisecond)
	all := make([]record.Entry, 0, 10_000)
	for range 100 {
		batch := make([]record.Entry, 100)
		for i := range batch {
			batch[i] = randomEntry(r, now)
		}
		all = append(all, batch...)
		if err := j.Append(t.Context(), batch...); err != nil {
			t.Fatal(err)
		}
	}
	if got := complaints(t, url); len(got) != 0 {
		t.Errorf("the statement complains about %d records, the first: %s", len(got), got[0])
	}
	lines, err := journal.EntryLines(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	if got := runNode(t.Context(), t, file, lines); len(got) != 0 {
		t.Errorf("the program complains about %d records, the first: %s", len(got), got[0])
	}
	checkAlterations(t, owner, url, file, all)
}

// runNode returns the lines that the program prints.
func runNode(ctx context.Context, t *testing.T, file string, lines []string) []string {
	t.Helper()
	cmd := exec.CommandContext(ctx, "node", file)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	return strings.Fields(string(out))
}

// checkAlterations changes each column of a record of its own, and looks who finds it.
func checkAlterations(t *testing.T, owner pg.DB, url, program string, all []record.Entry) {
	t.Helper()
	changes := []string{
		"at = at - interval '1 millisecond'", "type = type || 'x'", "entity_id = gen_random_uuid()", "key_id = gen_random_uuid()", "mode = mode || 'x'",
		"purpose = purpose || 'x'", "purpose_text = purpose_text || 'x'", "status = status || 'x'", "reason = reason || 'x'", "mobile_network = mobile_network || 'x'",
		"line_version = line_version + 1", "policy_version = policy_version + 1", "plan_version = plan_version + 1", "rules = rules + 1",
		"coverage = set_byte(coverage, 38, 255 - get_byte(coverage, 38))", "number = number - 1", "phone_number = phone_number || 'x'",
		"correlator = correlator || 'x'", "external_id = external_id || 'x'", "on_behalf_of = on_behalf_of || 'x'", "options = options || 'x'",
		"extra = extra || 'x'", "nonce = set_byte(nonce, 0, 255 - get_byte(nonce, 0))", "hash = set_byte(hash, 0, 255 - get_byte(hash, 0))", "request_id = gen_random_uuid()",
	}
	whole := slices.DeleteFunc(slices.Clone(all), func(e record.Entry) bool { return e.Erased() })
	for i, change := range changes {
		if tag, err := owner.Exec(t.Context(), "UPDATE journal_entry SET "+change+" WHERE request_id = $1", whole[i].RequestID); err != nil || tag.RowsAffected() != 1 {
			t.Fatalf("%s: %v, %v", change, tag, err)
		}
	}
	got := slices.DeleteFunc(complaints(t, url), func(c string) bool { return strings.HasPrefix(c, "batch ") })
	if len(got) != len(changes) {
		t.Errorf("the statement finds %d of %d changes: %v", len(got), len(changes), got)
	}
	report, err := (&journal.Checker{Pool: pgtest.Open(t, url, pg.Read), Limit: 100}).Check(t.Context(), time.Time{}, time.Time{})
	if err != nil || report.Found < int64(len(changes)) {
		t.Errorf("the check finds %d of %d changes: %v", report.Found, len(changes), err)
	}
	lines, err := journal.EntryLines(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	if got := runNode(t.Context(), t, program, lines); len(got) != len(changes) {
		t.Errorf("the program finds %d of %d changes", len(got), len(changes))
	}
}
