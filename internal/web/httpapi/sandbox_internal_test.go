package httpapi

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// The errors that test numbers simulate equal the real errors.
func TestSimulatedErrorsEqualTheRealOnes(t *testing.T) {
	t.Parallel()
	stage, p := sandbox.NewSimulator("NG"), policy.Defaults()
	for digits, want := range map[int64]*fault.Error{40: errNotMobile, 43: errUnavailable} {
		n, _ := phone.FromInt(2347290000000 + digits)
		part, _ := stage.Simulate(n, sandbox.Clock{}, time.Now(), &p)
		got, _ := errors.AsType[*fault.Error](part.Fault)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%02d (-real +played):\n%s", digits, diff)
		}
	}
}
