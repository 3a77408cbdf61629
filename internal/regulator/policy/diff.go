package policy

import "strconv"

// Difference is a field in which two versions differ.
type Difference struct {
	Name, Meaning string
	Before, After string
}

// Compare returns the fields in which two versions differ, in the order in which they
// are shown.
func Compare(before, after *Policy) (list []Difference) {
	for _, f := range Fields {
		if a, b := *f.of(before), *f.of(after); a != b {
			list = append(list, Difference{f.Name, f.Meaning, strconv.Itoa(a), strconv.Itoa(b)})
		}
	}
	for _, f := range TextFields {
		if a, b := *f.of(before), *f.of(after); a != b {
			list = append(list, Difference{f.Name, f.Meaning, a, b})
		}
	}
	return list
}
