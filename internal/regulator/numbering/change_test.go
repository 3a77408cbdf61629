package numbering_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
)

func ranged(prefix, network, allocated, withdrawn string) numbering.Row {
	day := func(text string) (t time.Time) {
		if text != "" {
			t, _ = time.Parse(time.DateOnly, text)
		}
		return t
	}
	return numbering.Row{Prefix: prefix, Network: network, Name: "The " + network, Allocated: day(allocated), Withdrawn: day(withdrawn)}
}

// Changes and Renamings compare plans by codes and names, whatever the ids of the
// networks are.
func TestChangesOfAPlan(t *testing.T) {
	t.Parallel()
	before, err := numbering.New([]numbering.Row{
		ranged("234801", "A", "2001-01-01", ""), ranged("234802", "A", "2001-01-01", ""), ranged("234803", "B", "2001-01-01", ""), ranged("234804", "B", "2001-01-01", ""),
		ranged("234805", "B", "2001-01-01", ""), ranged("234806", "C", "2001-01-01", "2010-01-01"), ranged("234807", "C", "2001-01-01", "2010-01-01"),
	}, 13)
	if err != nil {
		t.Fatal(err)
	}
	renamed := ranged("234806", "C", "2001-01-01", "2011-01-01")
	renamed.Name = "Another"
	again := ranged("234807", "C", "2001-01-01", "2010-01-01")
	again.Name = "Another"
	after, err := numbering.New([]numbering.Row{
		ranged("234809", "D", "2026-07-01", ""),                                                    // added
		ranged("234801", "A", "2001-01-01", ""),                                                    // as it was
		ranged("234802", "A", "2001-01-01", "2026-07-01"),                                          // withdrawn
		ranged("234803", "B", "2001-01-01", "2026-07-01"), ranged("234803", "A", "2026-07-01", ""), // moved
		ranged("234805", "B", "2002-01-01", ""), // redated; 234804 is gone
		renamed, again, ranged("234807", "A", "2026-07-01", ""),
	}, 13)
	if err != nil {
		t.Fatal(err)
	}
	day := ranged("", "", "2026-07-01", "").Allocated
	want := []numbering.Change{
		{numbering.Withdrawn, "234802", "A", "", day},
		{numbering.Moved, "234803", "B", "A", day},
		{Kind: numbering.Removed, Prefix: "234804", From: "B"},
		{numbering.Redated, "234805", "B", "B", ranged("", "", "2002-01-01", "").Allocated},
		{numbering.Redated, "234806", "C", "C", ranged("", "", "2011-01-01", "").Allocated},
		{numbering.Added, "234807", "", "A", day},
		{numbering.Added, "234809", "", "D", day},
	}
	if diff := cmp.Diff(want, numbering.Changes(before, after)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]numbering.Renaming{{"C", "The C", "Another"}, {"D", "", "The D"}}, numbering.Renamings(before, after)); diff != "" {
		t.Errorf("renamings (-want +got):\n%s", diff)
	}
	if list := numbering.Changes(before, before); len(list) != 0 {
		t.Errorf("a plan differs from itself: %v", list)
	}
}

// Preview changes nothing. Issue records the author of the draft, and refuses a draft
// that does not follow the latest version.
func TestDraftsArePreviewedAndIssued(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewAnyTime(t)
	first := set(t, pool, noon, time.Time{}, ranged("234801", "A", "2001-01-01", ""))
	service := &numbering.Service{Pool: pool, Now: at(noon.Add(time.Hour))}
	d := numbering.Draft{
		Rows: []numbering.Row{ranged("234801", "B", "2001-01-01", "")}, Source: " a letter ", BaseVersion: first.Version,
		By: audit.Actor{Kind: audit.Operator}, Request: uuid.New(),
	}
	before, after, err := service.Preview(t.Context(), d)
	if err != nil || before.Version != 1 || after.Version != 2 || after.Source != "a letter" {
		t.Fatalf("previewed %+v after %+v, %v", after, before, err)
	}
	if list := numbering.Changes(before, after); len(list) != 1 || list[0].Kind != numbering.Moved {
		t.Errorf("changes %v", list)
	}
	if now := inForce(t, pool, noon.Add(2*time.Hour)); now.Version != 1 {
		t.Fatalf("version %d is current after a preview", now.Version)
	}
	for name, wrong := range map[string]numbering.Draft{
		"no rows": {Source: "x"}, "no source": {Rows: d.Rows}, "the past": {Rows: d.Rows, Source: "x", EffectiveAt: noon},
	} {
		if _, _, err := service.Preview(t.Context(), wrong); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := service.Issue(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	list, err := audit.List(t.Context(), pool, audit.Filter{Request: d.Request})
	if err != nil || len(list) != 1 || !list[0].Actor.Same(d.By) || list[0].Action != audit.PlanSet {
		t.Errorf("the audit log has %+v, %v", list, err)
	}
	late := &numbering.Service{Pool: pool, Now: at(noon.Add(2 * time.Hour))}
	if _, err := late.Issue(t.Context(), d); fault.CodeOf(err) != fault.Aborted || errors.Is(err, fault.ErrInvalid) {
		t.Errorf("a draft that does not follow the latest version: %v", err)
	}
}
