package filejob_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Somebody who can change the rows of jobs, but is not their owner, gets none of their files:
// the names in the store contain the owner of the job.
func TestFilesStayThoseOfTheirOwner(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 10)
	other := filejob.Owner{Entity: uuid.New(), Mode: "test"}
	e.exec(`INSERT INTO entity (id, name, cac, status, document_required, supplies, asks, created_at)
		VALUES ($1, 'B', 'RC 2', 'Approved', $2, $2, true, '2020-01-01')`, other.Entity, false)
	victim, own := e.send("number\n+2348030000001\n"), e.send("number\n+2348030000002\n")
	e.finish(victim)
	for name, sql := range map[string]string{
		"the job of another": `UPDATE file_job SET entity_id = $2, mode = 'test' WHERE id = $1`,
		"its other mode":     `UPDATE file_job SET entity_id = $2, mode = 'test' WHERE id = $1`,
	} {
		e.exec(sql, victim, other.Entity)
		if in, err := e.Result(t.Context(), other, victim); err == nil {
			_ = in.Close()
			t.Errorf("%s has its result", name)
		}
		e.exec(`UPDATE file_job SET entity_id = $2, mode = 'live' WHERE id = $1`, victim, e.bank.Entity)
	}
	e.exec(`UPDATE file_job SET result = (SELECT result FROM file_job WHERE id = $2), entity_id = $3 WHERE id = $1`, own, victim, other.Entity)
	if in, err := e.Result(t.Context(), filejob.Owner{Entity: other.Entity, Mode: "live"}, own); err == nil {
		_ = in.Close()
		t.Error("a job has the result of another")
	}
	if got := e.result(victim); len(got) != 1 {
		t.Errorf("its owner gets %v", got)
	}
}

// A job answers nothing under a key of another organisation or mode than its own.
func TestJobNeedsAKeyOfItsOwner(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]filejob.Owner{"of another organisation": {Entity: uuid.New(), Mode: "live"}, "of another mode": {Mode: "test"}} {
		e := newEnv(t, 10)
		owner := e.bank
		if key.Entity == uuid.Nil {
			key.Entity = owner.Entity
		}
		id := e.send("number\n+2348030000001\n")
		e.keyOwner = key
		if j := e.finish(id); j.State != filejob.Failed || j.Answered != 0 {
			t.Errorf("a key %s: %s, %d answered", name, j.State, j.Answered)
		}
		if _, err := e.Result(t.Context(), owner, id); fault.CodeOf(err) != fault.IncompatibleState {
			t.Errorf("a key %s: %v", name, err)
		}
	}
}
