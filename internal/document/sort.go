package document

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/pg"
)

// Sort is what a list of documents is sorted by.
type Sort string

// The orders in which documents can be listed. What is alike stands in the order
// of the ids.
const (
	ByUploaded Sort = "uploaded"
	ByFile     Sort = "file"
	ByKind     Sort = "kind"   // what Filter.Called makes of the label
	ByState    Sort = "state"  // in the order of the way
	BySince    Sort = "since"  // when it came into its state
	ByEntity   Sort = "entity" // the name
)

// orders are what each sort compares of a document d of an entity e. Where that
// can change while somebody turns pages, the cursor holds it: a document that has
// moved on meanwhile would take the place where to go on with it. What cannot
// change is looked up, so that no name of a file comes into an address.
var orders = map[Sort]struct {
	value string
	held  func(*Document) int64 // what the cursor holds
	read  func(int64) any       // and as the database compares it
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

// order adds to q where to go on, and returns what to order by.
func (f *Filter) order(q *pg.Where) (string, error) {
	at, err := f.cursor()
	if err != nil {
		return "", err
	}
	o := orders[f.Sort]
	if o.value == "" {
		if at.ID != uuid.Nil {
			q.Behind([]string{"d.id"}, []any{at.ID}, f.Descending)
		}
		return pg.OrderBy([]string{"d.id"}, f.Descending), nil
	}
	value := o.value
	switch f.Sort {
	case ByKind:
		value = q.Fill(value, f.Called)
	case ByState:
		value = q.Fill(value, words(States))
	default:
	}
	order := []string{value, "d.id"}
	switch {
	case at.ID == uuid.Nil:
	case o.read != nil:
		q.Behind(order, []any{o.read(at.Held), at.ID}, f.Descending)
	default: // of that entity alone, lest another learns where a document stands
		q.Add("("+value+", d.id)"+pg.Way(f.Descending)+"(SELECT "+value+", d.id FROM document d JOIN entity e ON e.id = d.entity_id WHERE d.id = ? AND (?::uuid IS NULL OR e.id = ?))",
			at.ID, pg.ID(f.Entity), pg.ID(f.Entity))
	}
	return pg.OrderBy(order, f.Descending), nil
}

// next is the cursor behind a document.
func (f *Filter) next(d *Document) string {
	if held := orders[f.Sort].held; held != nil {
		return pg.Cursor{Held: held(d), ID: d.ID}.String()
	}
	return d.ID.String()
}

// cursor reads what next wrote.
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
