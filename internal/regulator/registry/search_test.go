package registry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/registry"
)

func asker(t *testing.T, r *registry.Registry, name, cac string) uuid.UUID {
	t.Helper()
	e, err := r.CreateRelyingParty(t.Context(), name, cac, operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	return e.ID
}

func namesFound(t *testing.T, r *registry.Registry, s registry.EntityFilter) (names []string) {
	t.Helper()
	found, err := r.Search(t.Context(), s)
	if err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	for _, e := range found.Entities {
		names = append(names, e.Name)
	}
	return names
}

// An entity is found by any part of its name, in any case and script, and by
// its CAC number in any spelling or by its beginning. Pattern characters are
// plain text.
func TestSearchFindsByNameAndNumber(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	asker(t, r, "Harbour Bank", "RC 123456")
	asker(t, r, "Lagoon 100% Bank", "BN-1234999")
	asker(t, r, "بنك الميناء", "KD 023538")
	place(t, r, asker(t, r, "港口银行", "X/9"), registry.Suspended)
	telco, err := onboard(t.Context(), r, form(nil), sponsor(t, r.Pool))
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"Harbour Bank", "Harmattan Telecom", "Lagoon 100% Bank", "بنك الميناء", "港口银行"}
	for _, tc := range []struct {
		search registry.EntityFilter
		want   []string
	}{
		{registry.EntityFilter{}, all},
		{registry.EntityFilter{Text: " bAnK "}, []string{"Harbour Bank", "Lagoon 100% Bank"}},
		{registry.EntityFilter{Text: "الميناء"}, []string{"بنك الميناء"}},
		{registry.EntityFilter{Text: "口"}, []string{"港口银行"}},
		{registry.EntityFilter{Text: "100%"}, []string{"Lagoon 100% Bank"}},
		{registry.EntityFilter{Text: "%"}, []string{"Lagoon 100% Bank"}},
		{registry.EntityFilter{Text: "_"}, nil},
		{registry.EntityFilter{Text: "rc-0123456"}, []string{"Harbour Bank"}},
		{registry.EntityFilter{Text: "1234"}, []string{"Harbour Bank", "Lagoon 100% Bank"}},
		{registry.EntityFilter{Text: "bn 1234"}, []string{"Lagoon 100% Bank"}},
		{registry.EntityFilter{Text: "x/9"}, []string{"港口银行"}},
		{registry.EntityFilter{Text: "bank\x00\xff"}, []string{"Harbour Bank", "Lagoon 100% Bank"}},
		{registry.EntityFilter{Text: strings.Repeat("z", 4000)}, nil},
		{registry.EntityFilter{Status: registry.Suspended}, []string{"港口银行"}},
		{registry.EntityFilter{Status: registry.Suspended, Text: "bank"}, nil},
		{registry.EntityFilter{Activity: registry.SuppliesLines}, []string{"Harmattan Telecom"}},
		{registry.EntityFilter{Activity: registry.OnlyVerifies}, slices.DeleteFunc(slices.Clone(all), func(n string) bool { return n == telco.Name })},
	} {
		if diff := cmp.Diff(tc.want, namesFound(t, r, tc.search)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tc.search, diff)
		}
	}
	s, err := r.Entity(t.Context(), telco.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := namesFound(t, r, registry.EntityFilter{Client: s.Client}); len(got) != 1 || got[0] != telco.Name {
		t.Errorf("of the client: %v", got)
	}
}

// The pages list every entity once, in every order and both directions, also
// where many have the same name. An unknown cursor leads to the first page.
func TestSearchPagesThroughAll(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	const all = 25
	for i := range all {
		id := asker(t, r, fmt.Sprintf("Bank %c", 'A'+rune(i%3)), "RC 7")
		if i%4 == 0 {
			place(t, r, id, registry.Revoked)
		}
	}
	for _, by := range []registry.Sort{registry.ByName, registry.ByCreated, registry.ByStatus, "nonsense"} {
		var orders [2][]uuid.UUID
		for way := range orders {
			s := registry.EntityFilter{Sort: by, Descending: way == 1, Limit: 4}
			for {
				found, err := r.Search(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range found.Entities {
					orders[way] = append(orders[way], e.ID)
				}
				if s.After = found.Next; s.After == uuid.Nil {
					break
				}
			}
		}
		slices.Reverse(orders[1])
		if diff := cmp.Diff(orders[0], orders[1]); diff != "" || len(orders[0]) != all {
			t.Errorf("by %s: %d entities, and the other way round (-there +back):\n%s", by, len(orders[0]), diff)
		}
	}
	if got := namesFound(t, r, registry.EntityFilter{After: uuid.New()}); len(got) != all {
		t.Errorf("behind what is not there: %d", len(got))
	}
	states := []registry.Status{}
	found, err := r.Search(t.Context(), registry.EntityFilter{Sort: registry.ByStatus})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found.Entities {
		states = append(states, e.Status)
	}
	if !slices.IsSorted(states) {
		t.Errorf("by state: %v", states)
	}
}

// A page is read from an index, from any position, and its cost does not grow
// with the number of entities.
func TestSearchReadsAPageOfTheList(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	_, err := r.Pool.Exec(t.Context(), `INSERT INTO entity (id, name, cac, status, document_required, supplies, asks, created_at)
		SELECT gen_random_uuid(), 'Bank ' || md5(i::text), 'RC ' || i, CASE WHEN i % 200 = 0 THEN 'Revoked' ELSE 'Approved' END, 1 = 2, 1 = 2, true,
			now() - i * interval '1 minute' FROM generate_series(1, 20000) i`)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []registry.EntityFilter{
		{}, {Sort: registry.ByCreated, Descending: true}, {Sort: registry.ByStatus, Descending: true}, {Status: registry.Revoked},
	} {
		for range 2 { // the first page, and the second
			s.Limit = 20
			plan, err := r.PlanOf(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(plan, "Seq Scan on entity") || !strings.Contains(plan, "Index Scan") {
				t.Errorf("%+v is read by:\n%s", s, plan)
			}
			found, err := r.Search(t.Context(), s)
			if err != nil || len(found.Entities) != 20 || found.Next == uuid.Nil {
				t.Fatalf("%+v: %d, %v", s, len(found.Entities), err)
			}
			s.After = found.Next
		}
	}
}

// Entities that share a CAC number are found in any spelling, and no others.
func TestTheSameNumberIsFound(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	one := asker(t, r, "One", "RC 0123456")
	two := asker(t, r, "Two", "123456")
	asker(t, r, "Three", "BN 123456")
	odd, even := asker(t, r, "Odd", "x-9-y"), asker(t, r, "Even", "X-9-Y")
	for id, want := range map[uuid.UUID]uuid.UUID{one: two, two: one, odd: even, even: odd} {
		same, err := r.SameCAC(t.Context(), id)
		if err != nil || len(same) != 1 || same[0].ID != want {
			t.Errorf("SameCAC = %+v, %v, want %s", same, err, want)
		}
	}
}
