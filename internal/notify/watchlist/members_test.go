package watchlist_test

import (
	"errors"
	"testing"

	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// A list that is read while it is changed is returned whole or with ErrChanged, also if it
// has the same members in the end: it was replaced by itself, or a number was removed and
// added again.
func TestMembersAreReadWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	o := e.bank("test", 0)
	all := numbers(0, 2_500, 1_000) // as many blocks, which are read in three parts
	one := numbers(1_500*1_000, 1, 1)
	for name, change := range map[string]func(watchlist.List, int) error{
		"replaced by itself": func(l watchlist.List, part int) error {
			if part != 0 {
				return nil
			}
			_, err := e.Replace(t.Context(), o, l.ID, each(all), false)
			return err
		},
		"removed and added again": func(l watchlist.List, part int) error {
			var err error
			switch part {
			case 0:
				_, err = e.Change(t.Context(), o, l.ID, nil, one)
			case 1:
				_, err = e.Change(t.Context(), o, l.ID, one, nil)
			}
			return err
		},
		"not changed": nil,
	} {
		l, err := e.Replace(t.Context(), o, e.create(o), each(all), false)
		if err != nil {
			t.Fatal(err)
		}
		part, read := 0, 0
		err = e.Members(t.Context(), o, l.ID, func(some []phone.Number) error {
			read += len(some)
			if change != nil {
				if err := change(l, part); err != nil {
					return err
				}
			}
			part++
			return nil
		})
		if change == nil && (err != nil || read != len(all)) || change != nil && !errors.Is(err, watchlist.ErrChanged) {
			t.Errorf("%s: %d of %d members were read, and the end was %v", name, read, len(all), err)
		}
	}
}
