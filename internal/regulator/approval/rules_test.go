package approval_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/regulator/approval"
)

var update = flag.Bool("update", false, "write the reference")

// Each action is named once, in words, and has somebody who may request it. It has
// somebody who may confirm it if, and only if, a second person has a say; and whoever may
// request it may also confirm the request of another, and so withdraw their own.
func TestEveryActionHasOneRule(t *testing.T) {
	t.Parallel()
	seen := map[approval.Kind]bool{}
	for _, a := range approval.Actions {
		if seen[a.Kind] || a.What == "" || len(a.Request) == 0 || a.Rule != approval.OnePerson && a.Rule != approval.ConfirmLater && a.Rule != approval.TwoPeople {
			t.Errorf("%s stands twice or is incomplete: %+v", a.Kind, a)
		}
		seen[a.Kind] = true
		if confirm := a.Rule != approval.OnePerson; confirm && !cmp.Equal(a.Request, a.Confirm) || !confirm && len(a.Confirm) > 0 {
			t.Errorf("%s: %q with %v requesting and %v confirming", a.Kind, a.Rule, a.Request, a.Confirm)
		}
	}
	for _, never := range []approval.Kind{"line.void", "line.release", "import.void", "guard.release", "policy.set", "journal.erase", "unknown"} {
		if approval.ActionOf(never).BreakGlass {
			t.Errorf("%s can be done by one person", never)
		}
	}
	if a := approval.ActionOf("unknown"); a.Rule != approval.TwoPeople || !cmp.Equal(a.Confirm, []string{approval.Administrator}) {
		t.Errorf("an unknown kind: %+v", a)
	}
}

// The reference of what takes two people is what the code does.
func TestReferenceOfTwoPeopleIsFresh(t *testing.T) {
	t.Parallel()
	const path = "../../../docs/reference/two-people.md"
	if *update {
		if err := os.WriteFile(path, []byte(reference()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	committed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(reference(), string(committed)); diff != "" {
		t.Errorf("run go test ./internal/regulator/approval -run Reference -update (-code +committed):\n%s", diff)
	}
}

const referenceHead = `# Two people

Generated from ^internal/regulator/approval/rules.go^ by ^go test ./internal/regulator/approval -run Reference -update^; do not edit.

Every dangerous action of staff, of the operator at the command line and of clients with ^line:order^, with its rule. [Two people](../explanation/audit.md#two-people) explains the rules;
[confirm as the second person](../how-to/confirm-as-second-person.md) is for the person who confirms.

| action | kind | rule | requested by | confirmed by | break-glass |
| --- | --- | --- | --- | --- | --- |
`

const referenceTail = `
The operator requests and confirms what administrators do, as one person, and never confirms an order. The person who confirms is never the one who requested it nor the one it is about,
and must be [independent](../explanation/audit.md#who-is-a-second-person) of them. [Break-glass](../explanation/audit.md#break-glass) is for the day on which there is no second person.
`

func reference() string {
	var text strings.Builder
	text.WriteString(strings.ReplaceAll(referenceHead, "^", "`"))
	for _, a := range approval.Actions {
		fmt.Fprintf(&text, "| %s | `%s` | %s | %s | %s | %s |\n", a.What, a.Kind, a.Rule, who(a, a.Request), who(a, a.Confirm), breakGlass(a))
	}
	text.WriteString(referenceTail)
	return text.String()
}

func breakGlass(a approval.Action) string {
	switch {
	case a.Rule == approval.OnePerson:
		return ""
	case a.BreakGlass:
		return "after 24 hours"
	}
	return "never"
}

// who lists roles of staff in words, and the clients that give orders.
func who(a approval.Action, roles []string) string {
	if len(roles) == 0 {
		return ""
	}
	list := make([]string, 0, len(roles)+1)
	for _, r := range roles {
		list = append(list, r+"s")
	}
	if a.Order {
		list = append(list, "clients")
	}
	return strings.Join(list, ", ")
}
