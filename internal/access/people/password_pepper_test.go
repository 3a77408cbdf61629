package people_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// After a rotation of the pepper a password is hashed again at its next login. Who did
// not log in before the old pepper was removed needs a new password.
func TestPasswordIsHashedUnderTheNewestPepperAtLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.StaffFactor = false
	const old, young = "a pepper for tests, thirty-two bytes long", "another pepper for tests, also long enough"
	login := func(email string, list ...secret.Text) error {
		w.move(time.Minute)
		peppers := must(secret.NewPeppers(list))(t)
		w.Passwords = secret.NewPasswords(peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 1, 1)
		_, err := w.LogIn(t.Context(), w.attempt(email, password), uuid.Nil)
		return err
	}
	if err := errors.Join(login(w.admin, young, old), login(w.admin, young)); err != nil {
		t.Errorf("who logged in meanwhile: %v", err)
	}
	if err := login(w.staff, young); !errors.Is(err, people.ErrBadLogin) {
		t.Errorf("who did not: %v", err)
	}
	if err := login(w.admin, old); !errors.Is(err, people.ErrBadLogin) {
		t.Errorf("with the pepper of before: %v", err)
	}
}
