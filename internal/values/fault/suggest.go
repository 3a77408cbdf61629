package fault

import "strings"

// RepeatedField is the message for a field that is in a request twice.
const RepeatedField = "Repeated field. Send it once."

// UnknownField is the message for a field that the operation does not have. If a
// known field has a similar name, the message suggests it.
func UnknownField(name string, known []string) string {
	return "Unknown field." + DidYouMean(name, known)
}

// DidYouMean suggests the known name that is nearest to name, or returns "". The
// message contains known names only: what a caller sends is never repeated.
func DidYouMean(name string, known []string) string {
	const maxLength = 64 // of a name that is compared; no known name is longer
	if len(name) > maxLength {
		return ""
	}
	best, nearest := "", 1+min(2, len(name)/3) // at most two edits, and fewer for short names
	for _, candidate := range known {
		if d := editDistance(strings.ToLower(name), strings.ToLower(candidate)); d < nearest {
			best, nearest = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return ` Did you mean "` + best + `"?`
}

// editDistance is the number of bytes to insert, delete or replace to turn a
// into b (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
