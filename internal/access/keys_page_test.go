package access_test

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// must returns a value that the test needs, or fails.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// manyKeys stores keys with many equal values, so that every order has ties.
func (w *world) manyKeys(t *testing.T, n int) (mine, other registry.Entity) {
	t.Helper()
	mine, _ = w.key(t)
	other = must(w.registry.CreateRelyingParty(t.Context(), "Lagoon Bank", "RC 8", access.Operator, uuid.Nil))(t)
	must(w.Pool.Exec(t.Context(), `INSERT INTO api_key (id, entity_id, name, mode, mac, preview, created_at, expires_at, revoked_at, last_used_at)
		SELECT gen_random_uuid(), CASE WHEN n % 7 = 0 THEN $2::uuid ELSE $1::uuid END, (ARRAY['App','app','shop','Étude'])[n % 4 + 1] || ' ' || n % 3, 'test', decode(lpad(to_hex(n), 64, '0'), 'hex'),
			'lp_test_x', now() - n % 5 * interval '1 day', CASE WHEN n % 3 > 0 THEN now() + (n % 4 - 1.5) * interval '1 day' END, CASE WHEN n % 9 = 0 THEN now() END,
			CASE WHEN n % 2 = 0 THEN now() - n % 6 * interval '1 hour' END FROM generate_series(1, $3) n`, mine.ID, other.ID, n))(t)
	return mine, other
}

func end(at time.Time) time.Time {
	if at.IsZero() {
		return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return at
}

// keyOrders are the orders as the code of a reader would have them.
var keyOrders = map[access.KeySort]func(a, b *access.KeyRow) int{
	access.KeysByName:    func(a, b *access.KeyRow) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) },
	access.KeysByCreated: func(a, b *access.KeyRow) int { return a.CreatedAt.Compare(b.CreatedAt) },
	access.KeysByUsed:    func(a, b *access.KeyRow) int { return a.LastUsedAt.Compare(b.LastUsedAt) },
	access.KeysByExpires: func(a, b *access.KeyRow) int { return end(a.ExpiresAt).Compare(end(b.ExpiresAt)) },
	"": func(a, b *access.KeyRow) int {
		inForce := map[bool]int{true: 1}
		return cmp.Or(inForce[a.Active(time.Now())]-inForce[b.Active(time.Now())], a.CreatedAt.Compare(b.CreatedAt))
	},
}

// pagesOf reads page after page, and calls between before each but the first.
func (w *world) pagesOf(t *testing.T, s access.KeySearch, between func(last access.KeyRow)) (all []access.KeyRow) {
	t.Helper()
	for range 1000 {
		page := must(w.KeyPage(t.Context(), s))(t)
		all = append(all, page.Keys...)
		if page.Next == "" {
			return all
		}
		s.After = page.Next
		between(all[len(all)-1])
	}
	t.Fatal("the pages have no end")
	return nil
}

func idsOfKeys(list []access.KeyRow) []uuid.UUID {
	ids := make([]uuid.UUID, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return ids
}

// The pages of every order list every key of the entity once, in order, ties by
// id, in both directions. Without an order active keys come first, then the
// newest.
func TestKeyPagesListEveryKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, _ := w.manyKeys(t, 90)
	all := must(w.Keys(t.Context(), mine.ID))(t)
	for sort, compare := range keyOrders {
		for _, desc := range []bool{false, true} {
			down := desc || sort == ""
			slices.SortFunc(all, func(a, b access.KeyRow) int {
				order := cmp.Or(compare(&a, &b), bytes.Compare(a.ID[:], b.ID[:]))
				if down {
					return -order
				}
				return order
			})
			for _, limit := range []int{1, 7, 100} {
				got := w.pagesOf(t, access.KeySearch{Entity: mine.ID, Sort: sort, Descending: desc, Limit: limit}, func(access.KeyRow) {})
				if !slices.Equal(idsOfKeys(got), idsOfKeys(all)) {
					t.Errorf("by %q, descending %t, %d at a time: %d keys, want %d in another order", sort, desc, limit, len(got), len(all))
				}
			}
		}
	}
	page := must(w.KeyPage(t.Context(), access.KeySearch{Entity: mine.ID, Limit: 5}))(t)
	if page.Total != int64(len(all)) || len(page.Keys) != 5 {
		t.Errorf("%d keys of %d, want 5 of %d", len(page.Keys), page.Total, len(all))
	}
}

// A key that is used or expires between two pages does not change where the
// next page starts.
func TestKeyPagesContinueAfterChanges(t *testing.T) {
	t.Parallel()
	for sort := range keyOrders {
		t.Run("by "+string(sort), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			mine, other := w.manyKeys(t, 60)
			s := access.KeySearch{Entity: mine.ID, Sort: sort, Limit: 4}
			want := idsOfKeys(w.pagesOf(t, s, func(access.KeyRow) {}))
			seen := map[uuid.UUID]int{}
			var got []uuid.UUID // without what is seen again because it has moved
			for _, k := range w.pagesOf(t, s, func(last access.KeyRow) {
				must(w.Pool.Exec(t.Context(), `UPDATE api_key SET last_used_at = now(), expires_at = now() - interval '1 hour' WHERE id = $1`, last.ID))(t)
			}) {
				if seen[k.ID]++; seen[k.ID] == 1 {
					got = append(got, k.ID)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d keys, want %d in another order", len(got), len(want))
			}
			first := must(w.KeyPage(t.Context(), s))(t)
			foreign := must(w.KeyPage(t.Context(), access.KeySearch{Entity: other.ID, Sort: sort, Limit: 1}))(t)
			for _, after := range []string{"x", first.Keys[0].ID.String(), "-1." + uuid.NewString(), "1." + uuid.NewString(), foreign.Next} {
				s.After = after
				if page := must(w.KeyPage(t.Context(), s))(t); !slices.Equal(idsOfKeys(page.Keys), idsOfKeys(first.Keys)) {
					t.Errorf("after %s is not the beginning", after)
				}
			}
		})
	}
}

// A key comes with its predecessor and its successor, and is visible to its
// entity only.
func TestKeyComesWithPredecessorAndSuccessor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e, first := w.key(t)
	other := must(w.registry.CreateRelyingParty(t.Context(), "Lagoon Bank", "RC 8", access.Operator, uuid.Nil))(t)
	second := must(w.RollKey(t.Context(), e.ID, first.ID, time.Hour, access.Operator, uuid.Nil))(t)
	third := must(w.RollKey(t.Context(), e.ID, second.ID, time.Hour, access.Operator, uuid.Nil))(t)
	for id, want := range map[uuid.UUID][2]uuid.UUID{first.ID: {uuid.Nil, second.ID}, second.ID: {first.ID, third.ID}, third.ID: {second.ID, uuid.Nil}} {
		kin := must(w.Key(t.Context(), e.ID, id))(t)
		if kin.Key.ID != id || kin.Previous.ID != want[0] || kin.Next.ID != want[1] || kin.Key.Rolled != (want[1] != uuid.Nil) {
			t.Errorf("%s has %s and %s beside it, want %v; rolled: %t", kin.Key.ID, kin.Previous.ID, kin.Next.ID, want, kin.Key.Rolled)
		}
	}
	for _, k := range must(w.KeyPage(t.Context(), access.KeySearch{Entity: e.ID}))(t).Keys {
		if k.Rolled != (k.ID != third.ID) {
			t.Errorf("%s is rolled: %t", k.ID, k.Rolled)
		}
	}
	if _, err := w.Key(t.Context(), other.ID, first.ID); !errors.Is(err, access.ErrNoKey) {
		t.Errorf("another entity's key: %v", err)
	}
	ids := []uuid.UUID{first.ID, first.ID, third.ID, uuid.New()}
	if names := must(w.KeyNames(t.Context(), e.ID, ids))(t); len(names) != 2 || names[third.ID] == "" {
		t.Errorf("the names are %v", names)
	}
	if names := must(w.KeyNames(t.Context(), other.ID, ids))(t); len(names) != 0 {
		t.Errorf("another entity is told %v", names)
	}
}

// Only keys that are neither revoked nor expired count as active, each for its
// own entity.
func TestActiveKeysAreCountedByEntity(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, other := w.manyKeys(t, 60)
	want := map[uuid.UUID]int64{}
	for _, k := range must(w.Keys(t.Context(), uuid.Nil))(t) {
		if k.Active(w.clock) {
			want[k.EntityID]++
		}
	}
	got := must(w.CountActiveKeys(t.Context(), mine.ID, other.ID, uuid.New()))(t)
	if len(got) != 2 || got[mine.ID] == 0 || !maps.Equal(got, want) {
		t.Errorf("CountActiveKeys = %v, want %v", got, want)
	}
	if got := must(w.CountActiveKeys(t.Context()))(t); len(got) != 0 {
		t.Errorf("for no entity: %v", got)
	}
}
