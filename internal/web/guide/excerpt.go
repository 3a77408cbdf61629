package guide

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// piece is a part of an excerpt; Hit says that it is one of the words looked for.
type piece struct {
	Text string
	Hit  bool
}

// maxExcerpt is the length of an excerpt in bytes, of which a part stands before the
// first word that was found.
const (
	maxExcerpt   = 220
	beforeTheHit = 60
)

// excerpt returns the part of a text around the first of the words, with all of them
// marked.
func excerpt(text string, words []string) []piece {
	fields := strings.SplitAfter(text, " ")
	hit := func(field string) bool {
		return slices.ContainsFunc(wordsOf(field), func(w string) bool { return slices.Contains(words, w) })
	}
	from, size := 0, 0
	if first := slices.IndexFunc(fields, hit); first > 0 {
		for from = first; from > 0 && size < beforeTheHit; from-- {
			size += len(fields[from-1])
		}
	}
	var pieces []piece
	if from > 0 {
		pieces = append(pieces, piece{Text: "… "})
	}
	size = 0
	for i, field := range fields[from:] {
		if size += utf8.RuneCountInString(field); size > maxExcerpt && i > 0 {
			return append(pieces, piece{Text: "…"})
		}
		word := strings.TrimSuffix(field, " ")
		pieces = append(pieces, piece{Text: word, Hit: hit(word)})
		if word != field {
			pieces = append(pieces, piece{Text: " "})
		}
	}
	return pieces
}
