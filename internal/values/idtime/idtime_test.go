package idtime_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/values/idtime"
)

// An id gives back its time, to the millisecond, and no two ids of a time are the same. An id
// of another version has no time.
func TestIDGivesBackItsTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 14, 9, 30, 0, 123_456_789, time.UTC)
	one, other := idtime.New(at), idtime.New(at)
	got, ok := idtime.Of(one)
	if !ok || !got.Equal(at.Truncate(time.Millisecond)) || one.Version() != 7 || one.Variant() != uuid.RFC4122 {
		t.Errorf("%s has the time %s, %t", one, got, ok)
	}
	if one == other {
		t.Error("two ids are the same")
	}
	if at, ok := idtime.Of(uuid.New()); ok {
		t.Errorf("a random id has the time %s", at)
	}
}
