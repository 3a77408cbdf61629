package journal_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

func entry(at time.Time) journal.Entry {
	at = at.UTC().Truncate(time.Millisecond)
	return journal.Entry{
		RequestID: journal.NewRequestID(at), At: at, Entity: uuid.New(), Key: uuid.New(), Mode: "live", Purpose: "fraud", Correlator: "c-1",
		Number: 2348031234567, PhoneNumber: "0803 123 4567", Status: "NORMAL", MobileNetwork: "MTN", LineVersion: 3, PolicyVersion: 1, PlanVersion: 2,
		Nonce: journal.NewNonce(),
	}
}

func open(t *testing.T, pool *pgxpool.Pool) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), pool, "a")
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
	entries := []journal.Entry{entry(time.Now()), entry(time.Now()), entry(time.Now())}
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
	want, err := journal.Root(hashes)
	if err != nil {
		t.Fatal(err)
	}
	var root []byte
	var count, linked int
	err = pool.QueryRow(t.Context(), `SELECT b.root, b.count, (SELECT count(*) FROM journal_entry e WHERE e.epoch = b.epoch AND e.n = b.n AND e.idx < b.count)
		FROM journal_batch b WHERE b.xact IS NOT NULL`).Scan(&root, &count, &linked)
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
		"plan_version = 9", "nonce = decode(repeat('00', 16), 'hex')", "hash = sha256('x')", "extra = ''", "extra = extra || ' '",
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
	if _, err := journal.Get(t.Context(), pool, journal.NewRequestID(time.Now())); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("Get of an id that never was = %v, want ErrNotFound", err)
	}
	if _, err := journal.Get(t.Context(), pool, uuid.New()); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("Get of an id without a time = %v, want ErrNotFound", err)
	}
}

// Every field takes part in the hash: two entries that differ in one field never
// have the same encoding, with or without Extra.
func TestEveryFieldIsInTheEncoding(t *testing.T) {
	t.Parallel()
	for _, extra := range []string{"", `{"signals":[]}`} {
		base := entry(time.Now())
		base.Extra = extra
		for i := range reflect.TypeFor[journal.Entry]().NumField() {
			e := base
			switch f := reflect.ValueOf(&e).Elem().Field(i); f.Interface().(type) {
			case string:
				f.SetString(f.String() + "x")
			case time.Time:
				f.Set(reflect.ValueOf(base.At.Add(time.Millisecond)))
			case int64, int32:
				f.SetInt(f.Int() + 1)
			default: // arrays of bytes
				f.Index(0).SetUint(f.Index(0).Uint() ^ 1)
			}
			if bytes.Equal(e.Encode(), base.Encode()) {
				t.Errorf("field %s is not in the encoding", reflect.TypeFor[journal.Entry]().Field(i).Name)
			}
		}
		a, b := base, base
		a.Mode, a.Purpose = "li", "vefraud"
		b.Mode, b.Purpose = "live", "fraud"
		if bytes.Equal(a.Encode(), b.Encode()) {
			t.Error("text that moves from one field to the next gives the same encoding")
		}
	}
}

// A record that was written before Extra existed still matches its hash.
func TestOldRecordsKeepTheirHash(t *testing.T) {
	t.Parallel()
	e := journal.Entry{
		RequestID: uuid.MustParse("01a1d964-6e3b-7c41-8a00-5f0e6b1d9c20"), At: time.UnixMilli(0x01a1d9646e3b),
		Entity: uuid.MustParse("01a1d8f0-2b00-7d10-9c3e-6f1a2b3c4d5e"), Key: uuid.MustParse("01a1d8f1-7f40-7a22-b1c4-0d9e8f7a6b5c"),
		Mode: "live", Purpose: "account opening", Correlator: "bank-7:4711", Number: 2348031234567, PhoneNumber: "0803-123 45.67",
		Status: "NORMAL", MobileNetwork: "MTN", LineVersion: 1, Nonce: [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	}
	const want = "b1bd56f57cd6d0a98a4e94f444c81016fba835ed69dd4fb32ec8ab7f527e8325"
	if got := e.Hash(); hex.EncodeToString(got[:]) != want {
		t.Errorf("the hash is %x, and was %s when the record was written", got, want)
	}
}

func TestRequestIDCarriesItsTimeAndTheCell(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 14, 9, 30, 0, 123e6, time.UTC)
	id := journal.NewRequestID(at)
	got, err := journal.TimeOf(id)
	if err != nil || !got.Equal(at) || id.Version() != 7 || id.Variant() != uuid.RFC4122 || id[9] != 0 {
		t.Errorf("%s carries %s (%v), version %d, variant %s, cell %d", id, got, err, id.Version(), id.Variant(), id[9])
	}
	if id == journal.NewRequestID(at) {
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
