package registry_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// applicant returns a form that conflicts with no other.
func applicant(i int) registry.ApplicationForm {
	return form(func(f *registry.ApplicationForm) {
		f.AdminEmail, f.AdminPhone = fmt.Sprintf("admin%d@harmattan.example", i), fmt.Sprintf("+234803%07d", i)
	})
}

// A client onboards at most as many entities on a day as it may, also with
// concurrent requests; then it is told when it may again. A refused application
// does not count, and another client has its own limit.
func TestClientOnboardsOnlySoManyEntitiesOnADay(t *testing.T) {
	t.Parallel()
	const limit, tries = 5, 16
	r := newRegistry(t)
	now := time.Date(2026, 11, 16, 21, 0, 0, 0, time.UTC)
	r.Pool, r.Now, r.Onboardings = pgtest.NewAnyTime(t), func() time.Time { return now }, limit
	by := sponsor(t, r.Pool)
	var all sync.WaitGroup
	errs := make([]error, tries)
	for i := range tries {
		all.Go(func() { _, errs[i] = onboard(t.Context(), r, applicant(i), by) })
	}
	all.Wait()
	done := 0
	for _, err := range errs {
		if err == nil {
			done++
			continue
		}
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Code != fault.QuotaExceeded || f.RetryAfter != 3*time.Hour+time.Second || !strings.Contains(f.Message, "2026-11-17T00:00:00Z") {
			t.Errorf("refused with %v after %v", err, f)
		}
	}
	if c := counts(t, r.Pool); done != limit || c != [3]int{limit, limit, limit} {
		t.Errorf("%d were onboarded and %v are stored, want %d", done, c, limit)
	}
	if _, err := onboard(t.Context(), r, applicant(tries), sponsor(t, r.Pool)); err != nil {
		t.Errorf("another client: %v", err)
	}
	now = now.Add(3 * time.Hour)
	if _, err := onboard(t.Context(), r, applicant(tries), by); !errors.Is(err, registry.ErrAdminTaken) {
		t.Errorf("a conflict on the next day: %v", err)
	}
	for i := range limit {
		if _, err := onboard(t.Context(), r, applicant(tries+1+i), by); err != nil {
			t.Errorf("on the next day: %v", err)
		}
	}
}
