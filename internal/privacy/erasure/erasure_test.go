package erasure_test

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/privacy/erasure"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// desk is a service with a journal of today, of two closed days in the database, and of
// two archived days.
type desk struct {
	*erasure.Service
	*erasure.Runner

	super     *pgxpool.Pool
	approvals *approval.Service
	dir       string
	days      []time.Time // from the oldest to today
	entries   []record.Entry
}

const (
	person = 2348031112223
	other  = 2348039998887
)

var held = uuid.MustParse("0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11") // an organisation

func newDesk(t *testing.T) *desk {
	t.Helper()
	url := pgtest.URL(t)
	serve := pgtest.Open(t, url, pg.Serve)
	d := &desk{
		Service: &erasure.Service{Pool: serve, Now: time.Now},
		super:   pgtest.Open(t, url, ""), dir: t.TempDir(),
		approvals: &approval.Service{Pool: serve, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Effects: erasure.Effects(), Now: time.Now},
	}
	files, err := blob.OpenDir(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	today := time.Now().UTC().Truncate(24 * time.Hour)
	noon := func() time.Time { return today.Add(12 * time.Hour) } // yesterday is closed
	archiver := &journal.Archiver{Pool: pgtest.Open(t, url, pg.Owner), Files: files, Now: noon}
	d.Runner = &erasure.Runner{Archiver: archiver}
	j, err := journal.Open(t.Context(), archiver.Pool, "a", 2)
	if err != nil {
		t.Fatal(err)
	}
	for ago := 5; ago >= 0; ago-- {
		day := today.AddDate(0, 0, -ago)
		d.days = append(d.days, day)
		if err := journaltest.MakeDay(t.Context(), d.super, day); err != nil {
			t.Fatal(err)
		}
		d.fill(t, j, day)
	}
	for _, day := range d.days[:2] {
		if _, err := archiver.Archive(t.Context(), day); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// fill writes twenty batches of five records to a day: in each, two are about the person.
func (d *desk) fill(t *testing.T, j *journal.Journal, day time.Time) {
	t.Helper()
	for i := range 20 {
		at := day.Add(time.Duration(i+1) * time.Second)
		batch := make([]record.Entry, 5)
		for k := range batch {
			e := &batch[k]
			*e = record.Entry{
				RequestID: record.NewRequestID(at), At: at, Type: "number", Entity: uuid.New(), Key: uuid.New(), Mode: "live", Purpose: "payment",
				Status: "NORMAL", MobileNetwork: "MTN", LineVersion: 1, PolicyVersion: 1, Rules: 1, Nonce: record.NewNonce(),
				Personal: record.Personal{Number: other, PhoneNumber: "0803 999 8887", Correlator: "kept"},
			}
			if k < 2 {
				e.Personal = record.Personal{
					Number: person, PhoneNumber: "0803-MARK-2223", Correlator: "mark-correlator", ExternalID: "mark-external", OnBehalfOf: "mark-principal",
					Options: "include=signals", Extra: `{"mark":"extra"}`,
				}
			}
			if k == 1 && i == 0 {
				e.Entity = held
			}
		}
		if err := j.Record(t.Context(), func(pg.DB) ([]record.Entry, error) { return batch, nil }); err != nil {
			t.Fatal(err)
		}
		d.entries = append(d.entries, batch...)
	}
}

func (d *desk) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := d.super.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// order requests an erasure and lets a second person confirm it.
func (d *desk) order(t *testing.T, o erasure.Order) uuid.UUID {
	t.Helper()
	first, second := d.administrator(t), d.administrator(t)
	o.By, o.Reason = first, "case 1"
	id, waits, err := d.Request(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Run(t.Context(), id); !errors.Is(err, erasure.ErrNotConfirmed) {
		t.Errorf("before it is confirmed: %v", err)
	}
	if _, err := d.approvals.Confirm(t.Context(), waits, first, uuid.Nil); !errors.Is(err, approval.ErrSecondPerson) {
		t.Errorf("by the same person: %v", err)
	}
	if _, err := d.approvals.Confirm(t.Context(), waits, second, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	return id
}

func (d *desk) administrator(t *testing.T) audit.Actor {
	t.Helper()
	id := uuid.New()
	d.exec(t, `INSERT INTO account (id, kind, role, name, email, email_key, verified_at, verified_by, created_at) VALUES ($1, 'staff', 'administrator', 'A', $2, $2, now(), 'email', now())`,
		id, id.String()+"@regulator.example")
	return audit.Actor{Kind: audit.Account, ID: id}
}

// check checks the whole journal, and returns how many records are erased.
func (d *desk) check(t *testing.T) int64 {
	t.Helper()
	checker := &journal.Checker{Pool: d.Archiver.Pool, Files: d.Archiver.Files, Limit: 5}
	inDatabase, err := checker.Check(t.Context(), time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	archived, err := checker.CheckArchives(t.Context(), time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if !inDatabase.OK() || !archived.OK() || inDatabase.Entries+archived.Entries != int64(len(d.entries)) {
		t.Errorf("the check finds %v %v in %d and %d records", inDatabase.Findings, archived.Findings, inDatabase.Entries, archived.Entries)
	}
	return inDatabase.Erased + archived.Erased
}

// records compares every record with what was written.
func (d *desk) records(t *testing.T, erased func(e *record.Entry) bool) {
	t.Helper()
	for i := range d.entries {
		want := &d.entries[i]
		got, err := journal.Find(t.Context(), d.Archiver.Pool, d.Archiver.Files, want.RequestID)
		switch {
		case err != nil:
			t.Fatalf("record %d: %v", i, err)
		case erased(want) && (!got.Erased() || got.Personal != record.Personal{} || got.Nonce != [16]byte{} || got.Hash() != want.Hash() || got.Status != want.Status):
			t.Fatalf("record %d is not erased: %+v", i, got)
		case !erased(want) && got != *want:
			t.Fatalf("record %d was changed: %+v", i, got)
		}
	}
}

// bytesLeft returns in which files of the database, the archive and the lists one of the
// texts still stands.
func (d *desk) bytesLeft(t *testing.T, texts ...[]byte) []string {
	t.Helper()
	left, err := journaltest.BytesLeft(t.Context(), d.super, d.dir, texts)
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// marks are what must be gone when the person's records are erased.
func (d *desk) marks() [][]byte {
	marks := [][]byte{[]byte("MARK"), []byte("mark-"), []byte(`"mark"`), binary.LittleEndian.AppendUint64(nil, person), []byte(strconv.Itoa(person))}
	for i := range d.entries {
		if d.entries[i].Number == person {
			marks = append(marks, d.entries[i].Nonce[:], []byte(hex.EncodeToString(d.entries[i].Nonce[:])))
		}
	}
	return marks
}
