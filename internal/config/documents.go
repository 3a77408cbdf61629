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

// Retention is how long each kind of document is kept.
type Retention map[string]time.Duration

const (
	day        = 24 * time.Hour
	mostDays   = 100 * 365
	maxDocType = 64 // characters, as in an upload
)

var errRetention = errors.New("config: not a list of types and times")

// UnmarshalText reads pairs such as CAC_CERTIFICATE=3650d,OTHER=8760h. A day is
// the least: a time in minutes is a typing mistake that destroys papers.
func (r *Retention) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return nil // not set
	}
	all := Retention{}
	for pair := range strings.SplitSeq(string(text), ",") {
		kind, times, ok := strings.Cut(pair, "=")
		kind = strings.TrimSpace(kind)
		keep, err := days(strings.TrimSpace(times))
		if _, twice := all[kind]; !ok || err != nil || twice || !isDocType(kind) || keep < day || keep > mostDays*day {
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
	if err != nil || n > mostDays {
		return 0, errRetention
	}
	return time.Duration(n) * day, nil
}

func (c *Config) checkDocuments(wrong *complaints) {
	const name = "LINEPROOF_DOCUMENTS_REQUIRED"
	for i, kind := range c.DocumentsRequired {
		if wrong.none(name) && (!isDocType(kind) || slices.Contains(c.DocumentsRequired[:i], kind)) {
			wrong.about(name, "%s has an entry that is empty, too long or there twice: list types of documents, separated by commas, each once and of at most 64 characters", name)
		}
	}
	if c.DocumentsRestrict && len(c.DocumentsRequired) == 0 && wrong.none(name, "LINEPROOF_DOCUMENTS_RESTRICT") {
		wrong.about("LINEPROOF_DOCUMENTS_RESTRICT", "LINEPROOF_DOCUMENTS_RESTRICT is true although LINEPROOF_DOCUMENTS_REQUIRED is set to nothing: list what is required, or set it to false")
	}
}

func isDocType(s string) bool {
	return s != "" && s == strings.TrimSpace(s) && utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxDocType &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
