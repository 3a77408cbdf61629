package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Retention is how long each type of document is stored.
type Retention map[string]time.Duration

const (
	day        = 24 * time.Hour
	maxDays    = 100 * 365
	maxDocType = 64 // characters, as in an upload
)

var errRetention = errors.New("config: not a list of types and times")

// UnmarshalText reads pairs such as CAC_CERTIFICATE=3650d,OTHER=8760h. The
// minimum is a day: a time in minutes is a typing mistake that would delete
// documents.
func (r *Retention) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return nil // not set
	}
	all := Retention{}
	for pair := range strings.SplitSeq(string(text), ",") {
		kind, duration, ok := strings.Cut(pair, "=")
		kind = strings.TrimSpace(kind)
		keep, err := days(strings.TrimSpace(duration))
		if _, twice := all[kind]; !ok || err != nil || twice || !isDocType(kind) || keep < day || keep > maxDays*day {
			return errRetention
		}
		all[kind] = keep
	}
	*r = all
	return nil
}

// days reads a duration that may also be written as a number of days.
func days(text string) (time.Duration, error) {
	number, ok := strings.CutSuffix(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil || n > maxDays {
		return 0, errRetention
	}
	return time.Duration(n) * day, nil
}

func (c *Config) checkDocuments(found *problems) {
	const name = "LINEPROOF_DOCUMENTS_REQUIRED"
	for i, kind := range c.DocumentsRequired {
		if found.none(name) && (!isDocType(kind) || slices.Contains(c.DocumentsRequired[:i], kind)) {
			found.add(name, "%s has an entry that is empty, too long or a duplicate: list types of documents, separated by commas, each once and of at most 64 characters", name)
		}
	}
	if c.DocumentsRestrict && len(c.DocumentsRequired) == 0 && found.none(name, "LINEPROOF_DOCUMENTS_RESTRICT") {
		found.add("LINEPROOF_DOCUMENTS_RESTRICT", "LINEPROOF_DOCUMENTS_RESTRICT is true although LINEPROOF_DOCUMENTS_REQUIRED is empty: list the required types, or set it to false")
	}
}

func isDocType(s string) bool {
	return s != "" && s == strings.TrimSpace(s) && utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxDocType &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
