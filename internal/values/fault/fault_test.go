package fault_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/values/fault"
)

var errTaken = fault.New(fault.AlreadyExists, "It belongs to another.")

// A copy with a cause or with violations is still the sentinel, and another
// fault of the same code is not.
func TestCopiesOfASentinelAreTheSentinel(t *testing.T) {
	t.Parallel()
	cause := errors.New("duplicate key")
	err := fmt.Errorf("onboard: %w", errTaken.With(fault.Violation{Field: "adminEmail"}).Because(cause))
	if !errors.Is(err, errTaken) || !errors.Is(err, cause) || fault.CodeOf(err) != fault.AlreadyExists {
		t.Errorf("%v is not recognised", err)
	}
	if errors.Is(err, fault.New(fault.AlreadyExists, "Something else.")) {
		t.Error("another fault of the same code is taken for it")
	}
	if len(errTaken.Violations) != 0 || errTaken.Err != nil {
		t.Error("the sentinel itself was changed")
	}
	if fault.CodeOf(cause) != fault.Internal {
		t.Error("an error that is no fault must be INTERNAL")
	}
}

// Two copies made from one fault do not share their violations.
func TestWithDoesNotShareViolations(t *testing.T) {
	t.Parallel()
	base := errTaken.With(fault.Violation{Field: "a"})
	one, two := base.With(fault.Violation{Field: "b"}), base.With(fault.Violation{Field: "c"})
	if len(base.Violations) != 1 || one.Violations[1].Field != "b" || two.Violations[1].Field != "c" {
		t.Errorf("%v %v %v", base.Violations, one.Violations, two.Violations)
	}
}

func TestFormCollectsEveryViolation(t *testing.T) {
	t.Parallel()
	var f fault.Form
	f.Check(true, "name", fault.Required, "x")
	if f.Err() != nil {
		t.Fatal("a form without complaints is an error")
	}
	f.Check(false, "name", fault.Required, "x")
	f.Once("name", fault.Required, "x")
	f.Once("cac", fault.Repeated, "y")
	f.Add(fault.Violation{Field: "phone"})
	var fields []string
	for _, v := range f.Violations() {
		fields = append(fields, v.Field)
	}
	if got := strings.Join(fields, " "); got != "name cac phone" || !errors.Is(f.Err(), fault.ErrInvalid) {
		t.Errorf("complaints about %q, %v", got, f.Err())
	}
}

// What went well has no error, and what failed keeps its cause behind what was being done.
func TestWrapKeepsTheCauseAndMakesNoErrorOfNone(t *testing.T) {
	t.Parallel()
	if err := fault.Wrap(nil, "feed: read %s", "a page"); err != nil {
		t.Errorf("%v for a step that went well", err)
	}
	cause := errTaken.Because(errors.New("duplicate key"))
	err := fault.Wrap(cause, "feed: read %s", "a page")
	if err == nil || err.Error() != "feed: read a page: "+cause.Error() || !errors.Is(err, errTaken) {
		t.Errorf("%v", err)
	}
}
