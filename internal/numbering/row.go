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

	"github.com/lineproof/lineproof/internal/fault"
)

// Row is one range as a file has it.
type Row struct {
	Prefix    string
	Network   string    // the network's short code
	Name      string    // what the network is called; the same in all of its rows
	Allocated time.Time // midnight UTC
	Withdrawn time.Time // zero: not withdrawn
}

// New makes a plan that is in no database, for those who need one without a
// version. Its networks are numbered in the order in which rows name them. The
// errors are those of [Book.Set].
func New(rows []Row, digits int) (*Plan, error) {
	p := Plan{Digits: digits, Source: "rows"}
	if err := check(p, rows); err != nil {
		return nil, err
	}
	ids, codes := numbered(rows)
	return planOf(p, rows, ids, codes), nil
}

// numbered gives networks ids in the order in which rows name them.
func numbered(rows []Row) (map[string]Network, map[Network]string) {
	ids, codes := map[string]Network{}, map[Network]string{}
	for _, r := range rows {
		if _, seen := ids[r.Network]; !seen {
			n := Network(len(ids) + 1) //nolint:gosec // checked: there are few networks
			ids[r.Network], codes[n] = n, r.Network
		}
	}
	return ids, codes
}

// planOf makes a plan from rows and the networks that they name.
func planOf(p Plan, rows []Row, ids map[string]Network, codes map[Network]string) *Plan {
	names, ranges := map[Network]string{}, make([]Range, 0, len(rows))
	for _, r := range rows {
		names[ids[r.Network]] = r.Name
		ranges = append(ranges, Range{Prefix: r.Prefix, Network: ids[r.Network], Allocated: r.Allocated, Withdrawn: r.Withdrawn})
	}
	return newPlan(p, ranges, names, codes)
}

// What a plan may hold. The library of phone numbers knows none with fewer than
// six digits, and E.164 none with more than fifteen.
const (
	minDigits   = 6
	maxDigits   = 15
	maxRows     = 100_000
	maxNetworks = 1000
	maxName     = 64
)

// maxComplaints is how many mistakes are named one by one. Whoever has more
// will not read them all.
const maxComplaints = 100

// reserved is the word that stands where the network is not known.
const reserved = "UNKNOWN"

var (
	prefixForm = regexp.MustCompile(`^[1-9][0-9]{0,14}$`)
	codeForm   = regexp.MustCompile(`^[A-Z][A-Z0-9-]{0,15}$`)

	earliest = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// complaints is a [fault.Form] that stops counting them out at some point.
type complaints struct {
	form fault.Form
	more int
}

func (c *complaints) check(ok bool, field, code, message string) {
	switch {
	case ok:
	case len(c.form.Violations()) < maxComplaints:
		c.form.Check(false, field, code, message)
	default:
		c.more++
	}
}

func (c *complaints) err() error {
	if c.more > 0 {
		c.form.Check(false, "plan", fault.TooLong, fmt.Sprintf("There are %d more mistakes. Correct these first.", c.more))
	}
	return c.form.Err()
}

// rows checks every row by itself and all of them together. Place names a row.
func (c *complaints) rows(rows []Row, place func(i int) string) {
	c.check(len(rows) > 0, "plan", fault.Required, "A plan needs at least one range.")
	c.check(len(rows) <= maxRows, "plan", fault.TooLong, fmt.Sprintf("A plan has at most %d ranges.", maxRows))
	for i, r := range rows {
		c.row(r, place(i))
	}
	c.names(rows, place)
	c.overlaps(rows, place)
}

func (c *complaints) row(r Row, at string) {
	c.check(prefixForm.MatchString(r.Prefix), at+", prefix", fault.BadFormat,
		"Write the first digits of the numbers from the country code on, 1 to 15 of them, without plus sign or leading zero, such as 234803.")
	c.check(codeForm.MatchString(r.Network) && r.Network != reserved, at+", network", fault.BadFormat,
		"Write the network's code: 1 to 16 capital letters, digits and hyphens, beginning with a letter, and not UNKNOWN.")
	c.check(nameable(r.Name), at+", name", fault.BadFormat, fmt.Sprintf(
		"Write the network's name: 1 to %d characters that can be printed, beginning with a letter or digit, no space at the end, and not UNKNOWN.", maxName))
	c.check(isDate(r.Allocated), at+", allocated", fault.BadFormat, "Write the day in the form 2001-08-01.")
	c.check(r.Withdrawn.IsZero() || isDate(r.Withdrawn), at+", withdrawn", fault.BadFormat,
		"Write the first day on which the range is no longer held in the form 2001-08-01, or nothing while it is.")
	c.check(!isDate(r.Allocated) || !isDate(r.Withdrawn) || r.Withdrawn.After(r.Allocated), at+", withdrawn", fault.NotAllowed,
		"A range is withdrawn after the day on which it was allocated.")
}

// nameable reports whether s can be a name. A spreadsheet takes what begins with
// a sign for a formula, so a name begins with a letter or a digit.
func nameable(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	return (unicode.IsLetter(first) || unicode.IsDigit(first)) && utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxName &&
		!strings.ContainsFunc(s, unprintable) && !strings.HasSuffix(s, " ") && !strings.EqualFold(s, reserved)
}

func isDate(t time.Time) bool {
	return t.Equal(t.UTC().Truncate(24*time.Hour)) && !t.Before(earliest) && !t.After(latest)
}

// names holds every network to one name, and every name to one network.
func (c *complaints) names(rows []Row, place func(i int) string) {
	named, bearer := map[string]int{}, map[string]int{} // the first row of a code, of a name
	for i, r := range rows {
		first, seen := named[r.Network]
		if !seen {
			first, named[r.Network] = i, i
		}
		c.check(rows[first].Name == r.Name, place(i)+", name", fault.NotAllowed, "The network has another name in "+place(first)+".")
		key := strings.ToLower(r.Name)
		first, seen = bearer[key]
		if !seen {
			first, bearer[key] = i, i
		}
		c.check(rows[first].Network == r.Network, place(i)+", name", fault.Taken, "Another network has this name in "+place(first)+".")
	}
	c.check(len(named) <= maxNetworks, "plan", fault.TooLong, fmt.Sprintf("A plan has at most %d networks.", maxNetworks))
}

// overlaps refuses a prefix that would be held twice at a time.
func (c *complaints) overlaps(rows []Row, place func(i int) string) {
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
		held := rows[last].Withdrawn.IsZero() || rows[last].Withdrawn.After(rows[at].Allocated)
		c.check(!held, place(max(at, last))+", prefix", fault.Taken, "The prefix is allocated in "+place(min(at, last))+" for some of the same time.")
		if !rows[last].Withdrawn.IsZero() && (rows[at].Withdrawn.IsZero() || rows[at].Withdrawn.After(rows[last].Withdrawn)) {
			last = at
		}
	}
}
