package config

import (
	"maps"
	"slices"
	"strings"
)

// unknown reports unknown variables with our prefix: otherwise a misspelt setting
// would silently leave the default.
func unknown(found *problems, env map[string]string) {
	var known []string
	for _, s := range settings() {
		known = append(known, s.name)
		if s.secret {
			known = append(known, s.name+fileSuffix)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !strings.HasPrefix(name, prefix) || slices.Contains(known, name) {
			continue
		}
		if plain, ok := strings.CutSuffix(name, fileSuffix); ok && slices.Contains(known, plain) {
			found.add(name, "%s cannot be read from a file: set %s itself", plain, plain)
			continue
		}
		if suggestion := nearest(name, known); suggestion != "" {
			found.add(name, "unknown setting %s; did you mean %s?", printable(name), suggestion)
			continue
		}
		found.add(name, "unknown setting %s: remove it; docs/reference/configuration.md lists all settings", printable(name))
	}
}

// nearest returns the known name with the smallest edit distance to name, or ""
// if none is close.
func nearest(name string, known []string) string {
	best, fewest := "", 1+(len(name)-len(prefix))/3
	for _, k := range known {
		if d := distance(name, k); d <= fewest && (best == "" || d < fewest) {
			best, fewest = k, d
		}
	}
	return best
}

// distance is the number of inserted, removed, changed or swapped bytes that
// lead from a to b (optimal string alignment).
func distance(a, b string) int {
	row := func() []int { return make([]int, len(b)+1) }
	beforeLast, last, current := row(), row(), row()
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			current[j] = min(last[j]+1, current[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], beforeLast[j-2]+1)
			}
		}
		beforeLast, last, current = last, current, beforeLast
	}
	return last[len(b)]
}

// printable replaces control characters, which must not reach a terminal.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
}
