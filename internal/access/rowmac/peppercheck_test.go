package rowmac_test

import (
	"errors"
	"testing"

	"github.com/lineproof/lineproof/internal/access/rowmac"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// A pepper that is not the one of the database is rejected before it does harm,
// a new one in front of the old one is accepted, and on a database in use none
// is created.
func TestUnknownPepperIsRejected(t *testing.T) {
	t.Parallel()
	const one, two, stranger secret.Text = "the first pepper, which is long enough", "the second pepper, which is long enough", "the pepper of another database, long enough"
	pool := pgtest.New(t)
	for i, step := range []struct {
		list []secret.Text
		want error
	}{
		{[]secret.Text{one}, nil},
		{[]secret.Text{one}, nil},
		{[]secret.Text{stranger}, rowmac.ErrPepper},
		{[]secret.Text{two}, rowmac.ErrPepper},
		{[]secret.Text{two, one}, nil},
		{[]secret.Text{two}, nil},
		{[]secret.Text{stranger, two}, nil},
		{nil, rowmac.ErrPepper},
	} {
		_, err := rowmac.OpenPeppers(t.Context(), pool, step.list != nil, func() ([]secret.Text, error) {
			if step.list == nil {
				t.Error("a pepper was made on a database that has one")
			}
			return step.list, nil
		})
		if !errors.Is(err, step.want) {
			t.Errorf("step %d: %v, want %v", i+1, err, step.want)
		}
	}
}
