package document_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// many stores documents of two entities that are alike in many ways, so that
// every order has ties.
func (w *fixture) many(t *testing.T, n int) {
	t.Helper()
	stranger := w.newEntity(t, false)
	w.sql(t, `UPDATE entity SET name = 'alpine Bank' WHERE id = $1`, stranger)
	for i := range n {
		entity, state := w.entity, document.States[i%len(document.States)]
		if i%4 == 1 {
			entity = stranger
		}
		var moved *time.Time
		at := time.Date(2026, 3, 1, 0, i%5, 0, 1000, time.UTC)
		if state != document.Received {
			later := at.Add(time.Duration(i%3) * time.Minute)
			moved = &later
		}
		w.sql(t, `INSERT INTO document (id, entity_id, type, label, file_name, media_type, size, sha256, state, uploader, uploader_id, created_at, moved_at)
			VALUES ($1, $2, 'OTHER', $3, $4, 'image/png', 7, decode(repeat('00', 32), 'hex'), $5, 'account', gen_random_uuid(), $6, $7)`,
			uuid.New(), entity, []string{"a", "b", "zebra", "C"}[i%4], fmt.Sprintf("%s %d.pdf", []string{"Scan", "scan", "Étude", "paper"}[i%4], i%6), string(state), at, moved)
	}
}

var called = map[string]string{"a": "Yacht", "zebra": "anchor"}

// kinds are the labels as called has them.
func kind(d document.Document) string {
	return strings.ToLower(cmp.Or(called[d.Label], d.Label))
}

// compared are the orders, as the code of a reader would have them.
var compared = map[document.Sort]func(a, b document.Document) int{
	document.ByUploaded: func(a, b document.Document) int { return a.Created.Compare(b.Created) },
	document.ByFile: func(a, b document.Document) int {
		return cmp.Compare(strings.ToLower(a.FileName), strings.ToLower(b.FileName))
	},
	document.ByKind: func(a, b document.Document) int { return cmp.Compare(kind(a), kind(b)) },
	document.ByState: func(a, b document.Document) int {
		return cmp.Compare(slices.Index(document.States, a.State), slices.Index(document.States, b.State))
	},
	document.BySince: func(a, b document.Document) int { return a.Moved.Compare(b.Moved) },
	document.ByEntity: func(a, b document.Document) int {
		return cmp.Compare(strings.ToLower(a.EntityName), strings.ToLower(b.EntityName))
	},
}

// walk reads all pages, and calls between before each but the first.
func (w *fixture) walk(t *testing.T, f document.Filter, between func(seen []document.Document)) (all []document.Document) {
	t.Helper()
	for range 1000 {
		page, next, err := w.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, page...); next == "" {
			return all
		}
		f.After = next
		between(all)
	}
	t.Fatal("the pages have no end")
	return nil
}

func idsOf(list []document.Document) []uuid.UUID {
	ids := make([]uuid.UUID, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return ids
}

// Over all pages, every sort order has every selected document once, in order, and
// equal ones by their ids, ascending and descending.
func TestEveryOrderGoesThroughAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(t, 61)
	for sort, compare := range compared {
		for _, base := range []document.Filter{{}, {Entity: w.entity}, {States: []document.State{document.Clean}}} {
			want := w.walk(t, base, func([]document.Document) {})
			base.Sort, base.LabelNames = sort, called
			for _, desc := range []bool{false, true} {
				slices.SortFunc(want, func(a, b document.Document) int {
					order := cmp.Or(compare(a, b), bytes.Compare(a.ID[:], b.ID[:]))
					if desc {
						return -order
					}
					return order
				})
				for _, limit := range []int{1, 7, 100} {
					base.Descending, base.Limit = desc, limit
					if got := w.walk(t, base, func([]document.Document) {}); !slices.Equal(idsOf(got), idsOf(want)) {
						t.Errorf("by %s, descending %t, %d at a time: %d documents, want %d in another order", sort, desc, limit, len(got), len(want))
					}
				}
			}
		}
	}
}

// Documents that do not change while a reader goes through the pages are shown
// once, whatever changes in between.
func TestPagesGoOnWhereTheyWere(t *testing.T) {
	t.Parallel()
	for sort := range compared {
		t.Run(string(sort), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.many(t, 40)
			f := document.Filter{Sort: sort, LabelNames: called, Limit: 3}
			want := idsOf(w.walk(t, f, func([]document.Document) {}))
			f.States = document.States[:7] // the last of a page leaves what is asked for
			want = slices.DeleteFunc(want, func(id uuid.UUID) bool { return w.state(t, id) == document.Deleted })
			got := w.walk(t, f, func(seen []document.Document) {
				w.sql(t, `UPDATE document SET state = 'deleted', moved_at = now() WHERE id = $1`, seen[len(seen)-1].ID)
			})
			if !slices.Equal(idsOf(got), want) {
				t.Errorf("%d documents, want %d, each once", len(got), len(want))
			}
		})
	}
}

func (w *fixture) state(t *testing.T, id uuid.UUID) document.State {
	t.Helper()
	return must(w.Find(t.Context(), id))(t).State
}

// A cursor of another sort order is refused, and one of another entity's document
// reveals nothing about its position.
func TestCursorsAreOfTheirOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(t, 12)
	id := uuid.NewString()
	for sort := range compared {
		for _, after := range []string{"next", "." + id, "x." + id, "-1." + id, "9223372036854775807." + id, "1.x", "1." + id + "0"} {
			if _, _, err := w.List(t.Context(), document.Filter{Sort: sort, After: after}); fault.CodeOf(err) != fault.InvalidArgument {
				t.Errorf("by %s after %s: %v", sort, after, err)
			}
		}
	}
	all := w.walk(t, document.Filter{}, func([]document.Document) {})
	i := slices.IndexFunc(all, func(d document.Document) bool { return d.Entity != w.entity })
	list, _, err := w.List(t.Context(), document.Filter{Entity: w.entity, Sort: document.ByFile, After: all[i].ID.String()})
	if err != nil || len(list) != 0 {
		t.Errorf("behind a document of another entity stand %d, %v", len(list), err)
	}
}
