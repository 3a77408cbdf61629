package journal_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

func entry(at time.Time) record.Entry {
	at = at.UTC().Truncate(time.Millisecond)
	return record.Entry{
		RequestID: record.NewRequestID(at), At: at, Entity: uuid.New(), Key: uuid.New(), Type: "number", Mode: "live", Purpose: "payment", PurposeText: "fraud",
		Status: "NORMAL", MobileNetwork: "MTN", LineVersion: 3, PolicyVersion: 1, PlanVersion: 2, Rules: 1, Coverage: record.Coverage{3, 1}, Nonce: record.NewNonce(),
		Personal: record.Personal{Number: 2348031234567, PhoneNumber: "0803 123 4567", Correlator: "c-1", ExternalID: "e-1", OnBehalfOf: "RC 1234"},
	}
}

func open(t *testing.T, pool *pgxpool.Pool) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), pool, "a", 2)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// An appended record is found by its id alone, completely, and belongs to a batch
// whose Merkle root includes its hash.
func TestAppendedEntriesAreFoundByTheirID(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	j := open(t, pool)
	now := time.Now()
	entries := []record.Entry{entry(now), entry(now), entry(now)}
	entries[1].Options, entries[1].Extra = "include=signals", `{"signals":[]}`
	if err := j.Append(t.Context(), entries...); err != nil {
		t.Fatal(err)
	}
	hashes := make([][]byte, 0, len(entries))
	for i := range entries {
		got, err := journal.Get(t.Context(), pool, entries[i].RequestID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(entries[i], got); diff != "" {
			t.Errorf("entry %d (-appended +found):\n%s", i, diff)
		}
		h := entries[i].Hash()
		hashes = append(hashes, h[:])
	}
	want, err := merkle.Root(hashes)
	if err != nil {
		t.Fatal(err)
	}
	var root []byte
	var count, linked int
	err = pool.QueryRow(t.Context(), `SELECT b.Root, b.Count, (SELECT count(*) FROM journal_entry e WHERE e.Epoch = b.Epoch AND e.N = b.N AND e.Idx < b.Count)
		FROM journal_batch b WHERE b.Xact IS NOT NULL`).Scan(&root, &count, &linked)
	if err != nil || !bytes.Equal(root, want) || count != 3 || linked != 3 {
		t.Errorf("batch: root %x, want %x; count %d, linked %d, %v", root, want, count, linked, err)
	}
}

// Two processes with the same node name never write the same key.
func TestEveryStartIsAnEpochOfItsOwn(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	for range 3 {
		j := open(t, pool)
		if err := j.Append(t.Context(), entry(time.Now())); err != nil {
			t.Fatal(err)
		}
	}
	var epochs int
	if err := pool.QueryRow(t.Context(), `SELECT count(DISTINCT epoch) FROM journal_batch`).Scan(&epochs); err != nil || epochs != 3 {
		t.Errorf("%d epochs, %v; want 3", epochs, err)
	}
}

// A batch that is written a second time, as after an unknown outcome, adds nothing,
// because its key exists.
func TestBatchKeyRefusesASecondCopy(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	if err := open(t, pool).Append(t.Context(), entry(time.Now())); err != nil {
		t.Fatal(err)
	}
	_, err := pool.Exec(t.Context(), `INSERT INTO journal_batch (node, epoch, n, at, count, root) SELECT node, epoch, n, at, count, root FROM journal_batch`)
	if err == nil || !strings.Contains(err.Error(), "23505") {
		t.Errorf("a second copy gave %v, want a unique violation", err)
	}
}

func TestAppendWithoutAPartitionIsRefused(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	err := open(t, pool).Append(t.Context(), entry(time.Now().AddDate(0, 0, 40)))
	if !errors.Is(err, journal.ErrNotRecorded) {
		t.Errorf("Append = %v, want ErrNotRecorded", err)
	}
}

// Reading a record that was changed afterwards is an error, whichever field was
// changed.
func TestAlteredRecordIsNoticed(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	pool, super := pgtest.Open(t, url, "lineproof_serve"), pgtest.Open(t, url, "")
	j := open(t, pool)
	for _, change := range []string{
		"entity_id = gen_random_uuid()", "key_id = gen_random_uuid()", "mode = 'test'", "purpose = ''", "correlator = 'x'", "number = number + 1",
		"phone_number = phone_number || ' '", "options = 'x'", "status = 'BARRED'", "mobile_network = 'Glo'", "line_version = 0", "policy_version = 9",
		"plan_version = 9", "type = 'file'", "purpose_text = ''", "reason = 'STALE'", "rules = 2", "coverage = set_byte(coverage, 38, 1)",
		"external_id = ''", "on_behalf_of = ''", "nonce = sha256('x')", "nonce = decode(repeat('00', 16), 'hex')", "hash = sha256('x')", "extra = ''", "extra = extra || ' '",
	} {
		e := entry(time.Now())
		e.Extra = `{"signals":[]}`
		if err := j.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if _, err := super.Exec(t.Context(), "UPDATE journal_entry SET "+change+" WHERE request_id = $1", e.RequestID); err != nil {
			t.Fatal(err)
		}
		if _, err := journal.Get(t.Context(), pool, e.RequestID); err == nil || fault.CodeOf(err) != fault.Internal {
			t.Errorf("%s went unnoticed: %v", change, err)
		}
	}
	if _, err := journal.Get(t.Context(), pool, record.NewRequestID(time.Now())); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("Get of an id that never was = %v, want ErrNotFound", err)
	}
	if _, err := journal.Get(t.Context(), pool, uuid.New()); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("Get of an id without a time = %v, want ErrNotFound", err)
	}
}

// Every field takes part in the hash: two entries that differ in one field never have
// the same.
func TestEveryFieldIsInTheHash(t *testing.T) {
	t.Parallel()
	base := entry(time.Now())
	seen := map[[32]byte]string{base.Hash(): "none"}
	var alter func(path string, of func(*record.Entry) reflect.Value)
	alter = func(path string, of func(*record.Entry) reflect.Value) {
		e := base
		f := of(&e)
		switch f.Interface().(type) {
		case string:
			f.SetString(f.String() + "x")
		case time.Time:
			f.Set(reflect.ValueOf(base.At.Add(time.Millisecond)))
		case int64, int32:
			f.SetInt(f.Int() + 1)
		case record.Personal:
			for i := range f.NumField() {
				alter(path+"."+f.Type().Field(i).Name, func(e *record.Entry) reflect.Value { return of(e).Field(i) })
			}
			return
		default: // arrays of bytes
			f.Index(0).SetUint(f.Index(0).Uint() ^ 1)
		}
		if same, found := seen[e.Hash()]; found {
			t.Errorf("a change of %s gives the hash of a change of %s", path, same)
		}
		seen[e.Hash()] = path
	}
	for i := range reflect.TypeFor[record.Entry]().NumField() {
		alter(reflect.TypeFor[record.Entry]().Field(i).Name, func(e *record.Entry) reflect.Value { return reflect.ValueOf(e).Elem().Field(i) })
	}
	if len(seen) != 1+17+7+1 {
		t.Errorf("%d fields were altered", len(seen)-1)
	}
	a, b := base, base
	a.Mode, a.Purpose = "li", "vefraud"
	b.Mode, b.Purpose = "live", "fraud"
	if a.Hash() == b.Hash() {
		t.Error("text that moves from one field to the next gives the same hash")
	}
}

// What is left of an erased record has the same hash, whatever was erased.
func TestErasedRecordKeepsItsHash(t *testing.T) {
	t.Parallel()
	e := entry(time.Now())
	erased := e
	erased.Inner, erased.Personal, erased.Nonce = e.InnerHash(), record.Personal{}, [16]byte{}
	if !erased.Erased() || e.Erased() || erased.Hash() != e.Hash() || erased.InnerHash() != e.InnerHash() {
		t.Errorf("the hash is %x, and was %x", erased.Hash(), e.Hash())
	}
}

func TestRequestIDCarriesItsTimeAndTheCell(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 14, 9, 30, 0, 123e6, time.UTC)
	id := record.NewRequestID(at)
	got, ok := record.TimeOf(id)
	if !ok || !got.Equal(at) || id.Version() != 7 || id.Variant() != uuid.RFC4122 || id[9] != 0 {
		t.Errorf("%s carries %s, version %d, variant %s, cell %d", id, got, id.Version(), id.Variant(), id[9])
	}
	if id == record.NewRequestID(at) {
		t.Error("two ids of one millisecond are equal")
	}
}

// The serving role creates partitions in advance, without gaps, and creates none the
// second time.
func TestPartitionsAreMadeAheadByTheServingRole(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t) // has seven
	if _, err := journal.MakePartitions(t.Context(), pool, 12); err != nil {
		t.Fatal(err)
	}
	if made, err := journal.MakePartitions(t.Context(), pool, 12); err != nil || made != 0 {
		t.Errorf("the second time made %d, %v", made, err)
	}
	if ahead, err := journal.DaysAhead(t.Context(), pool, time.Now()); err != nil || ahead != 12 {
		t.Errorf("%d days ahead, %v; want 12", ahead, err)
	}
	if ahead, err := journal.DaysAhead(t.Context(), pool, time.Now().AddDate(0, 1, 0)); err != nil || ahead != -1 {
		t.Errorf("%d days ahead of a day without partition, %v; want -1", ahead, err)
	}
	var brin int
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_indexes WHERE tablename LIKE 'journal_entry_2%' AND indexdef LIKE '%USING brin%'`).Scan(&brin); err != nil || brin < 13 {
		t.Errorf("%d partitions have their index, %v", brin, err)
	}
}
