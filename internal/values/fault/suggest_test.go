package fault_test

import (
	"testing"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// The message about an unknown field suggests a known field with a similar name,
// and never repeats what was sent.
func TestUnknownFieldSuggestsASimilarName(t *testing.T) {
	t.Parallel()
	known := []string{"phoneNumber", "since", "include", "id"}
	for name, want := range map[string]string{
		"phonenumber": ` Did you mean "phoneNumber"?`, "phoneNumbr": ` Did you mean "phoneNumber"?`, "phone_number": ` Did you mean "phoneNumber"?`,
		"includes": ` Did you mean "include"?`, "ID": ` Did you mean "id"?`,
		"phone": "", "x": "", "": "", "between": "", "a name that is far longer than any field that an operation of this service has": "",
	} {
		if got := fault.UnknownField(name, known); got != "Unknown field."+want {
			t.Errorf("%q: %s", name, got)
		}
	}
}
