package httpapi

import (
	"maps"
	"net/url"
	"slices"

	"github.com/lineproof/lineproof/internal/values/fault"
)

var errQuery = fault.New(fault.InvalidArgument, "The query string is malformed. Send name=value pairs, each name once.")

// readQuery reads a query string as strictly as a body is read: each of the names
// at most once, and no others.
func readQuery(query string, names ...string) (url.Values, *fault.Form, error) {
	wrong := &fault.Form{}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, wrong, errQuery
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case slices.Contains(names, name):
			wrong.Check(len(values[name]) == 1, name, fault.Repeated, fault.RepeatedField)
		case len(wrong.Violations()) < maxUnknown:
			wrong.Check(false, printableName(name), fault.Unknown, fault.UnknownField(name, names))
		}
	}
	return values, wrong, nil
}
