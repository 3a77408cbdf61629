package numbering

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// Row is one range in a file.
type Row struct {
	Prefix    string
	Network   string    // the network's short code
	Name      string    // of the network; the same in all of its rows
	Allocated time.Time // midnight UTC
	Withdrawn time.Time // zero: not withdrawn
}

// New returns a plan that is not stored and has no version. Its networks get ids in
// the order in which rows name them. The errors are those of [Service.Set].
func New(rows []Row, digits int) (*Plan, error) {
	p := Plan{Digits: digits, Source: "rows"}
	if err := check(p, rows); err != nil {
		return nil, err
	}
	ids, codes := assignIDs(rows)
	return planOf(p, rows, ids, codes), nil
}

// assignIDs gives the networks ids in the order in which rows name them.
func assignIDs(rows []Row) (map[string]Network, map[Network]string) {
	ids, codes := map[string]Network{}, map[Network]string{}
	for _, r := range rows {
		if _, seen := ids[r.Network]; !seen {
			n := Network(len(ids) + 1) //nolint:gosec // checked: there are few networks
			ids[r.Network], codes[n] = n, r.Network
		}
	}
	return ids, codes
}

// planOf returns a plan with these rows and the networks that they name.
func planOf(p Plan, rows []Row, ids map[string]Network, codes map[Network]string) *Plan {
	names, ranges := map[Network]string{}, make([]Range, 0, len(rows))
	for _, r := range rows {
		names[ids[r.Network]] = r.Name
		ranges = append(ranges, Range{Prefix: r.Prefix, Network: ids[r.Network], Allocated: r.Allocated, Withdrawn: r.Withdrawn})
	}
	return newPlan(p, ranges, names, codes)
}

// The limits of a plan. The phone number library knows no number with fewer than
// six digits, and E.164 allows at most fifteen.
const (
	minDigits   = 6
	maxDigits   = 15
	maxRows     = 100_000
	maxNetworks = 1000
	maxName     = 64
)

// maxViolations is how many mistakes are listed one by one. Nobody reads more than
// that.
const maxViolations = 100

// reservedName is shown for a network that is not known.
const reservedName = "UNKNOWN"

var (
	prefixForm = regexp.MustCompile(`^[1-9][0-9]{0,14}$`)
	codeForm   = regexp.MustCompile(`^[A-Z][A-Z0-9-]{0,15}$`)

	earliest = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// violations is a [fault.Form] that lists at most maxViolations.
type violations struct {
	form     fault.Form
	unlisted int
}

func (c *violations) check(ok bool, field, code, message string) {
	switch {
	case ok:
	case len(c.form.Violations()) < maxViolations:
		c.form.Check(false, field, code, message)
	default:
		c.unlisted++
	}
}

func (c *violations) err() error {
	if c.unlisted > 0 {
		c.form.Check(false, "plan", fault.TooLong, fmt.Sprintf("There are %d more errors. Correct these first.", c.unlisted))
	}
	return c.form.Err()
}

// rows checks every row, and all of them together. rowName returns the name of a
// row for messages.
func (c *violations) rows(rows []Row, rowName func(i int) string) {
	c.check(len(rows) > 0, "plan", fault.Required, "A plan needs at least one range.")
	c.check(len(rows) <= maxRows, "plan", fault.TooLong, fmt.Sprintf("A plan has at most %d ranges.", maxRows))
	for i, r := range rows {
		c.row(r, rowName(i))
	}
	c.names(rows, rowName)
	c.overlaps(rows, rowName)
}

func (c *violations) row(r Row, at string) {
	c.check(prefixForm.MatchString(r.Prefix), at+", prefix", fault.BadFormat,
		"Write the first digits of the numbers from the country code on, 1 to 15 of them, without plus sign or leading zero, such as 234803.")
	c.check(codeForm.MatchString(r.Network) && r.Network != reservedName, at+", network", fault.BadFormat,
		"Write the network's code: 1 to 16 capital letters, digits and hyphens, beginning with a letter, and not UNKNOWN.")
	c.check(isName(r.Name), at+", name", fault.BadFormat, fmt.Sprintf(
		"Write the network's name: 1 to %d characters that can be printed, beginning with a letter or digit, no space at the end, and not UNKNOWN.", maxName))
	c.check(isDate(r.Allocated), at+", allocated", fault.BadFormat, "Write the day in the form 2001-08-01.")
	c.check(r.Withdrawn.IsZero() || isDate(r.Withdrawn), at+", withdrawn", fault.BadFormat,
		"Write the first day on which the range is no longer allocated in the form 2001-08-01, or leave it empty.")
	c.check(!isDate(r.Allocated) || !isDate(r.Withdrawn) || r.Withdrawn.After(r.Allocated), at+", withdrawn", fault.NotAllowed,
		"A range is withdrawn after the day on which it was allocated.")
}

// isName reports whether s can be a name. A spreadsheet would treat text that
// begins with a sign as a formula, so a name begins with a letter or a digit.
func isName(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	return (unicode.IsLetter(first) || unicode.IsDigit(first)) && utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxName &&
		!strings.ContainsFunc(s, unprintable) && !strings.HasSuffix(s, " ") && !strings.EqualFold(s, reservedName)
}

func isDate(t time.Time) bool {
	return t.Equal(t.UTC().Truncate(24*time.Hour)) && !t.Before(earliest) && !t.After(latest)
}

// names checks that every network has one name, and every name one network.
func (c *violations) names(rows []Row, rowName func(i int) string) {
	firstByCode, firstByName := map[string]int{}, map[string]int{} // the index of the first row
	for i, r := range rows {
		first, seen := firstByCode[r.Network]
		if !seen {
			first, firstByCode[r.Network] = i, i
		}
		c.check(rows[first].Name == r.Name, rowName(i)+", name", fault.NotAllowed, "The network has a different name in "+rowName(first)+".")
		key := strings.ToLower(r.Name)
		first, seen = firstByName[key]
		if !seen {
			first, firstByName[key] = i, i
		}
		c.check(rows[first].Network == r.Network, rowName(i)+", name", fault.Taken, "Another network has this name in "+rowName(first)+".")
	}
	c.check(len(firstByCode) <= maxNetworks, "plan", fault.TooLong, fmt.Sprintf("A plan has at most %d networks.", maxNetworks))
}

// overlaps checks that no prefix is allocated twice at the same time.
func (c *violations) overlaps(rows []Row, rowName func(i int) string) {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(strings.Compare(rows[a].Prefix, rows[b].Prefix), rows[a].Allocated.Compare(rows[b].Allocated), cmp.Compare(a, b))
	})
	var last int // of the rows with the same prefix so far, the one that is withdrawn last
	for i, at := range order {
		if i == 0 || rows[last].Prefix != rows[at].Prefix {
			last = at
			continue
		}
		overlap := rows[last].Withdrawn.IsZero() || rows[last].Withdrawn.After(rows[at].Allocated)
		c.check(!overlap, rowName(max(at, last))+", prefix", fault.Taken, "The prefix is also allocated in "+rowName(min(at, last))+" for an overlapping period.")
		if !rows[last].Withdrawn.IsZero() && (rows[at].Withdrawn.IsZero() || rows[at].Withdrawn.After(rows[last].Withdrawn)) {
			last = at
		}
	}
}
