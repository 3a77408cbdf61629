package config

import (
	"maps"
	"slices"
	"strings"
)

// unknown complains about variables that carry our prefix and mean nothing: a
// misspelt setting would otherwise be a default that nobody asked for.
func unknown(wrong *complaints, env map[string]string) {
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
			wrong.about(name, "%s is not read from a file: set %s itself", plain, plain)
			continue
		}
		if meant := nearest(name, known); meant != "" {
			wrong.about(name, "unknown setting %s; did you mean %s?", printable(name), meant)
			continue
		}
		wrong.about(name, "unknown setting %s: remove it; docs/reference/configuration.md lists all settings", printable(name))
	}
}

// nearest returns the known name that is the fewest typing mistakes away from
// name, or nothing when that would be a guess.
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
	twoUp, up, here := row(), row(), row()
	for j := range up {
		up[j] = j
	}
	for i := 1; i <= len(a); i++ {
		here[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			here[j] = min(up[j]+1, here[j-1]+1, up[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				here[j] = min(here[j], twoUp[j-2]+1)
			}
		}
		twoUp, up, here = up, here, twoUp
	}
	return up[len(b)]
}

// printable keeps a name from writing control characters to a terminal.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
}
