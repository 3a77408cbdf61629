package secret

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/lineproof/lineproof/internal/values/fault"
)

//go:embed common.txt.gz
var commonList []byte

// common is the set of common passwords, in lower case.
var common = sync.OnceValue(func() map[string]struct{} {
	r, err := gzip.NewReader(bytes.NewReader(commonList))
	if err != nil {
		panic(fmt.Errorf("secret: open the embedded list: %w", err)) // the binary is damaged
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic(fmt.Errorf("secret: read the embedded list: %w", err)) // the binary is damaged
	}
	set := make(map[string]struct{}, 24_416)
	for line := range strings.Lines(string(text)) {
		set[strings.TrimSuffix(line, "\n")] = struct{}{}
	}
	return set
})

// CheckPassword returns everything that is wrong with a new password: it is not text,
// it has fewer than minLength or more than maxLength characters, it is a common
// password, or it consists only of words, which are what an attacker knows about the
// account (names, the parts of the e-mail address) and would try first. There are no
// composition rules. The caller sets the Field of each violation.
func CheckPassword(password Text, minLength, maxLength int, words ...string) []fault.Violation {
	s := password.Reveal()
	var violations []fault.Violation
	add := func(code, message string) {
		violations = append(violations, fault.Violation{Code: code, Message: message})
	}

	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		add(fault.BadFormat, "Use text in UTF-8 without the NUL character.")
	}
	n := utf8.RuneCountInString(s)
	if n < minLength {
		add(fault.TooShort, fmt.Sprintf("Use at least %d characters.", minLength))
	}
	if n > maxLength {
		add(fault.TooLong, fmt.Sprintf("Use at most %d characters.", maxLength))
	}
	lower := strings.ToLower(s)
	if _, found := common()[lower]; found {
		add(fault.TooCommon, "This is one of the most common passwords; choose one that others do not use.")
	}
	if madeOf(strings.Join(letterRuns(lower), ""), vocabulary(words)) {
		add(fault.OwnWords, "Do not build the password from names or the e-mail address of the account alone; add words that have nothing to do with it.")
	}
	return violations
}

// vocabulary returns the parts of words: every run of at least two letters, and each
// word with all its letters joined, so that j.doe covers doe and jdoe. A single
// letter does not count: it would reject every password that repeats it.
func vocabulary(words []string) []string {
	var vocab []string
	for _, word := range words {
		runs := letterRuns(strings.ToLower(word))
		for _, w := range append(runs, strings.Join(runs, "")) {
			if utf8.RuneCountInString(w) >= 2 {
				vocab = append(vocab, w)
			}
		}
	}
	return vocab
}

// letterRuns splits s at everything that is neither a letter nor a mark on one.
func letterRuns(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
}

// madeOf reports whether s is a sequence of one or more words of vocab. It goes from
// left to right and records which positions can be reached, so that no choice of
// words makes it slow.
func madeOf(s string, vocab []string) bool {
	reached := make([]bool, len(s)+1)
	reached[0] = true
	for i := range len(s) {
		if !reached[i] {
			continue
		}
		for _, w := range vocab {
			if strings.HasPrefix(s[i:], w) {
				reached[i+len(w)] = true
			}
		}
	}
	return s != "" && reached[len(s)]
}
