package filejob_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/answer/filejob"
)

// An organisation has only so many jobs that have not ended, of live and of test keys
// together, and creates only so many in a day: to cancel jobs makes room for others, but not
// for ever.
func TestJobsOfAnOrganisationAreLimited(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 1)
	test := e.bank
	test.Mode = "test"
	create := func(o filejob.Owner) (filejob.Job, error) { return e.Create(t.Context(), o, e.key, "", by) }
	var made []filejob.Job
	for i := range 20 {
		o := e.bank
		if i%2 == 0 {
			o = test
		}
		j, err := create(o)
		if err != nil {
			t.Fatalf("job %d: %v", i+1, err)
		}
		made = append(made, j)
	}
	for _, o := range []filejob.Owner{e.bank, test} {
		if _, err := create(o); !errors.Is(err, filejob.ErrTooManyJobs) {
			t.Errorf("another job of mode %s: %v", o.Mode, err)
		}
	}
	if _, err := e.Cancel(t.Context(), made[0].Owner, made[0].ID, by); err != nil {
		t.Fatal(err)
	}
	if _, err := create(e.bank); err != nil {
		t.Errorf("after one was cancelled: %v", err)
	}
	e.exec(`INSERT INTO file_job (id, entity_id, mode, key_id, name, state, created_at, finished_at) SELECT gen_random_uuid(), $1, 'test', $2, '', 'cancelled', now(), now() FROM generate_series(1, 1000)`,
		e.bank.Entity, e.key)
	if _, err := e.Cancel(t.Context(), made[1].Owner, made[1].ID, by); err != nil {
		t.Fatal(err)
	}
	if _, err := create(e.bank); !errors.Is(err, filejob.ErrTooManyToday) {
		t.Errorf("after a thousand that were cancelled: %v", err)
	}
	e.ahead = 25 * time.Hour
	if _, err := create(e.bank); err != nil {
		t.Errorf("a day later: %v", err)
	}
}

// The files of an organisation that wait have only so many bytes, of live and of test keys
// together. The file of a cancelled job counts until it is deleted.
func TestWaitingFilesAreLimited(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 1)
	e.MaxWaiting = 250
	send := func(mode string) (uuid.UUID, error) {
		o := e.bank
		o.Mode = mode
		j, err := e.Create(t.Context(), o, e.key, "", by)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Receive(t.Context(), o, j.ID, strings.NewReader(strings.Repeat("x", 100)), by)
		return j.ID, err
	}
	first, err := send("live")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := send("test"); err != nil {
		t.Fatal(err)
	}
	if _, err := send("live"); !errors.Is(err, filejob.ErrTooManyBytes) {
		t.Errorf("a third file of 100 bytes beside 250 that are allowed: %v", err)
	}
	if _, err := e.Cancel(t.Context(), e.bank, first, by); err != nil {
		t.Fatal(err)
	}
	if _, err := send("live"); !errors.Is(err, filejob.ErrTooManyBytes) {
		t.Errorf("after a job was cancelled whose file is not deleted: %v", err)
	}
	if err := e.CleanUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := send("live"); err != nil {
		t.Errorf("after the file was deleted: %v", err)
	}
}
