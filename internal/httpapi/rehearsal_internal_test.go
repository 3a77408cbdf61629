package httpapi

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
	"github.com/lineproof/lineproof/internal/rehearsal"
)

// The errors that test numbers play say what the service says when it means
// them.
func TestPlayedErrorsAreTheRealOnes(t *testing.T) {
	t.Parallel()
	stage, p := rehearsal.NewStage("NG"), policy.Defaults()
	for digits, want := range map[int64]*fault.Error{40: errNotMobile, 43: errUnavailable} {
		n, _ := phone.FromInt(2347290000000 + digits)
		part, _ := stage.Play(n, rehearsal.Clock{}, time.Now(), &p)
		got, _ := errors.AsType[*fault.Error](part.Fault)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%02d (-real +played):\n%s", digits, diff)
		}
	}
}
