package document

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// Sort is the sort key of a list of documents.
type Sort string

// The sort keys. Documents with equal keys are sorted by id.
const (
	ByUploaded Sort = "uploaded"
	ByFile     Sort = "file"
	ByKind     Sort = "kind"   // the name of the label in Filter.Called
	ByState    Sort = "state"  // in the order of States
	BySince    Sort = "since"  // when it entered its state
	ByEntity   Sort = "entity" // the name
)

// orders has the SQL expression of each sort key, for a document d of an entity e.
// If the value can change between two pages, the cursor contains it: otherwise,
// when the last document of a page changes, the next page would start at another
// position. Values that cannot change are looked up by id, so that no file name
// gets into a URL.
var orders = map[Sort]struct {
	value string
	held  func(*Document) int64 // the value in the cursor
	read  func(int64) any       // converts it for the query
}{
	ByUploaded: {value: `d.created_at`},
	ByFile:     {value: `lower(d.file_name) COLLATE "C"`},
	ByKind:     {value: `lower(coalesce(?::jsonb ->> d.label, d.label)) COLLATE "C"`},
	ByEntity:   {value: `lower(e.name) COLLATE "C"`},
	ByState: {
		value: `array_position(?::text[], d.state)::bigint`,
		held:  func(d *Document) int64 { return int64(slices.Index(States, d.State) + 1) },
		read:  func(n int64) any { return n },
	},
	BySince: {
		value: `coalesce(d.moved_at, d.created_at)`,
		held:  func(d *Document) int64 { return d.Moved.UnixMicro() },
		read:  func(n int64) any { return time.UnixMicro(n) },
	},
}

// order adds the condition of the cursor to q and returns the ORDER BY list.
func (f *Filter) order(q *pg.Where) (string, error) {
	at, err := f.cursor()
	if err != nil {
		return "", err
	}
	o := orders[f.Sort]
	if o.value == "" {
		if at.ID != uuid.Nil {
			q.After([]string{"d.id"}, []any{at.ID}, f.Descending)
		}
		return pg.OrderBy([]string{"d.id"}, f.Descending), nil
	}
	value := o.value
	switch f.Sort {
	case ByKind:
		value = q.Bind(value, f.LabelNames)
	case ByState:
		value = q.Bind(value, stateNames(States))
	default:
	}
	order := []string{value, "d.id"}
	switch {
	case at.ID == uuid.Nil:
	case o.read != nil:
		q.After(order, []any{o.read(at.SortKey), at.ID}, f.Descending)
	default: // only of that entity, so that a caller learns nothing about the documents of others
		q.Add("("+value+", d.id)"+pg.AfterOperator(f.Descending)+"(SELECT "+value+", d.id FROM document d JOIN entity e ON e.id = d.entity_id WHERE d.id = ? AND (?::uuid IS NULL OR e.id = ?))",
			at.ID, pg.ID(f.Entity), pg.ID(f.Entity))
	}
	return pg.OrderBy(order, f.Descending), nil
}

// next returns the cursor after a document.
func (f *Filter) next(d *Document) string {
	if held := orders[f.Sort].held; held != nil {
		return pg.Cursor{SortKey: held(d), ID: d.ID}.String()
	}
	return d.ID.String()
}

// cursor parses the cursor.
func (f *Filter) cursor() (at pg.Cursor, err error) {
	switch {
	case f.After == "":
		return at, nil
	case orders[f.Sort].held != nil:
		var ok bool
		if at, ok = pg.ParseCursor(f.After); !ok {
			return at, errCursor
		}
		return at, nil
	}
	if at.ID, err = uuid.Parse(f.After); err != nil || len(f.After) != 36 {
		return at, errCursor
	}
	return at, nil
}
