package httpapi

import (
	"maps"
	"net/url"
	"slices"

	"github.com/lineproof/lineproof/internal/fault"
)

var errQuery = fault.New(fault.InvalidArgument, "The part of the address after the question mark cannot be read. Send name=value pairs, each name once.")

// readQuery reads the part of an address after the question mark, as strictly as a body is
// read: each of the names at most once, and no other.
func readQuery(query string, names ...string) (url.Values, *fault.Form, error) {
	wrong := &fault.Form{}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, wrong, errQuery
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case slices.Contains(names, name):
			wrong.Check(len(values[name]) == 1, name, fault.Repeated, "The field stands more than once. Send it once.")
		case len(wrong.Violations()) < maxStrangers:
			wrong.Check(false, showable(name), fault.Unknown, "The operation has no such field. Leave it out, or correct its spelling.")
		}
	}
	return values, wrong, nil
}
