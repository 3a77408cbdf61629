package tally

import (
	"cmp"
	"context"
	"math/bits"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
)

// MaxRecords is the maximum page size.
const MaxRecords = 1000

// Filter selects records.
type Filter struct {
	Entity       uuid.UUID        // uuid.Nil for every entity
	Mode, Status string           // "" for all
	Key          uuid.UUID        // uuid.Nil for every key
	Number       int64            // 0 for every number
	Correlator   string           // "" for all
	From, To     time.Time        // zero for no limit; To is exclusive
	After        journal.Position // the last record of the page before; zero for the first page
	Limit        int
	// Within is how long to look for a key, a number or a correlator before a page is
	// returned that is not full; 0 for narrowTime.
	Within time.Duration
}

// Page is a page of records, newest first.
type Page struct {
	Records []record.Entry
	Next    journal.Position // the After of the next page; zero on the last
	Until   time.Time        // how far back was searched, if a page is not full and older records were not searched
}

// narrow reports whether the filter has what the counts do not know: then records are read
// that are not wanted.
func (f *Filter) narrow() bool { return f.Key != uuid.Nil || f.Number != 0 || f.Correlator != "" }

const (
	// recountTail is how much before the last count is read from the journal without
	// the counts: some of it may have been committed since.
	recountTail = 10 * time.Second
	// maxTail bounds how much is read from the journal because it is not counted yet.
	maxTail = 10 * time.Minute
	// secondsAtOnce is how many seconds of the journal one query reads at most.
	secondsAtOnce = 300
	// mergeGap is how many seconds may lie between two spans that are read as one.
	mergeGap = 3
	// minutesAtOnce is how many minutes of counts are read at once.
	minutesAtOnce = 200
	// narrowTime is how long a page looks for what the counts do not know. Its first query
	// reads narrowRecords records in at most narrowSeconds seconds of the journal, and each
	// that takes less than narrowQuery is followed by one of twice that size.
	narrowTime    = 40 * time.Millisecond
	narrowQuery   = 10 * time.Millisecond
	narrowRecords = 500
	narrowSeconds = 50
)

// Records lists records from the database, as far back as minutes are kept.
func (t *Tally) Records(ctx context.Context, f Filter) (Page, error) {
	f.Limit = min(max(f.Limit, 1), MaxRecords)
	t = t.onReader()
	s, err := t.search(ctx, f)
	if err != nil {
		return Page{}, err
	}
	need := f.Limit + 1 // one more shows that there is a next page
	var found []record.Entry
	began, size := time.Now(), 1
	for len(found) < need {
		want, seconds := need-len(found), secondsAtOnce
		if f.narrow() {
			want, seconds = narrowRecords*size, min(narrowSeconds*size, secondsAtOnce)
		}
		if f.narrow() && !s.reached.IsZero() && time.Since(began) > cmp.Or(f.Within, narrowTime) {
			return Page{Records: found, Next: journal.Position{At: s.reached}, Until: s.reached}, nil
		}
		query := time.Now()
		spans, err := s.spans(ctx, want, seconds)
		if err != nil || len(spans) == 0 {
			if err != nil {
				return Page{}, err
			}
			break
		}
		part, err := journal.List(ctx, t.Pool, journal.Query{
			Entity: f.Entity, Mode: f.Mode, Status: f.Status, Key: f.Key, Number: f.Number, Correlator: f.Correlator, Spans: spans, Before: f.After, Limit: need - len(found),
		})
		if err != nil {
			return Page{}, err
		}
		found, s.reached = append(found, part...), spans[len(spans)-1].From
		if time.Since(query) < narrowQuery {
			size *= 2
		}
	}
	if len(found) < need {
		return Page{Records: found}, nil
	}
	last := found[f.Limit-1]
	return Page{Records: found[:f.Limit], Next: journal.Position{At: last.At, ID: last.RequestID}}, nil
}

// search walks back in time through the seconds that contain wanted records.
type search struct {
	*Tally

	filter  Filter
	days    []journal.Span // still to be searched, the newest first
	tail    journal.Span   // read without using the counts
	seconds []second       // known and not read yet, the newest first
	reached time.Time      // the start of what was read last
}

// second is a second of the journal with the approximate number of wanted records.
type second struct {
	at time.Time
	n  int
}

func (t *Tally) search(ctx context.Context, f Filter) (*search, error) {
	now := t.Now()
	seen, err := t.CountedUntil(ctx)
	if err != nil {
		return nil, err
	}
	inside, err := journal.Days(ctx, t.Pool)
	if err != nil || len(inside) == 0 {
		return &search{Tally: t}, err
	}
	from := latest(latest(f.From, now.Add(-Retention)), inside[0]).Truncate(time.Millisecond)
	to := now.Add(time.Hour) // clocks may be ahead
	if !f.To.IsZero() && f.To.Before(to) {
		to = f.To
	}
	end := f.After.At
	if f.After.ID != uuid.Nil { // others of the same millisecond may follow
		end = end.Add(time.Millisecond)
	}
	if !f.After.At.IsZero() && end.Before(to) {
		to = end
	}
	s := &search{Tally: t, filter: f}
	counted := latest(seen.Add(-recountTail), now.Add(-maxTail)).Truncate(time.Second)
	if to.After(counted) {
		s.tail, to = journal.Span{From: latest(from, counted), To: to}, counted
	}
	if !to.After(from) {
		return s, nil
	}
	s.days = []journal.Span{{From: from, To: to}}
	if f.Mode != "" || f.Status != "" {
		s.days, err = t.daysWith(ctx, f, from, to)
	}
	return s, err
}

// daysWith returns the days that contain wanted records. Without it, a search for a
// rare status would read every minute of all days.
func (t *Tally) daysWith(ctx context.Context, f Filter, from, to time.Time) ([]journal.Span, error) {
	var days []journal.Span
	var day time.Time
	err := forEachRow(ctx, t.Pool, []any{&day}, func() {
		day = day.UTC()
		span := journal.Span{From: latest(day, from), To: day.AddDate(0, 0, 1)}
		if to.Before(span.To) {
			span.To = to
		}
		if span.To.After(span.From) {
			days = append(days, span)
		}
	}, `SELECT DISTINCT day::timestamptz FROM journal_day WHERE entity_id = $1 AND day >= $2::timestamptz::date AND day <= $3::timestamptz::date
		AND ($4 = '' OR mode = $4) AND ($5 = '' OR status = $5) ORDER BY 1 DESC`, f.Entity, from, to, f.Mode, f.Status)
	return days, err
}

// spans returns the spans to read next for the wanted number of records: enough
// seconds to contain them according to the counts, or as many as allowed. It returns none
// at the end.
func (s *search) spans(ctx context.Context, want, seconds int) ([]journal.Span, error) {
	if s.tail.To.After(s.tail.From) {
		tail := s.tail
		s.tail = journal.Span{}
		return []journal.Span{tail}, nil
	}
	var spans []journal.Span
	for taken := 0; want > 0 && taken < seconds; taken++ {
		if len(s.seconds) == 0 {
			if err := s.loadSeconds(ctx); err != nil || len(s.seconds) == 0 {
				return spans, err
			}
		}
		next := s.seconds[0]
		s.seconds = s.seconds[1:]
		want -= next.n
		if i := len(spans) - 1; i >= 0 && spans[i].From.Sub(next.at) <= mergeGap*time.Second {
			spans[i].From = next.at
			continue
		}
		spans = append(spans, journal.Span{From: next.at, To: next.at.Add(time.Second)})
	}
	return spans, nil
}

// loadSeconds reads counts until there are seconds to read, or no more counts.
func (s *search) loadSeconds(ctx context.Context) error {
	for len(s.seconds) == 0 && len(s.days) > 0 {
		day := &s.days[0]
		minutes := 0
		sql := `SELECT minute, sum(n)::bigint, bit_or(seconds) FROM journal_minute
			WHERE minute >= $1 AND minute < $2 AND ($3 = '' OR mode = $3) AND ($4 = '' OR status = $4)`
		args := []any{day.From.Truncate(time.Minute), day.To, s.filter.Mode, s.filter.Status, minutesAtOnce}
		if s.filter.Entity != uuid.Nil {
			sql, args = sql+` AND entity_id = $6`, append(args, s.filter.Entity)
		}
		span := *day
		var minute time.Time
		var n, present int64
		err := forEachRow(ctx, s.Pool, []any{&minute, &n, &present}, func() {
			minutes++
			day.To = minute.UTC()
			s.addSeconds(span, minute.UTC(), int(n), uint64(present)) //nolint:gosec // bits
		}, sql+` GROUP BY minute ORDER BY minute DESC LIMIT $5`, args...)
		if err != nil {
			return err
		}
		if minutes < minutesAtOnce {
			s.days = s.days[1:]
		}
	}
	return nil
}

// addSeconds adds those seconds of a minute that lie within a span. Present has a
// bit for each second that contains records.
func (s *search) addSeconds(within journal.Span, minute time.Time, n int, present uint64) {
	average := n/max(1, bits.OnesCount64(present)) + 1
	for i := 59; i >= 0; i-- {
		at := minute.Add(time.Duration(i) * time.Second)
		if present&(1<<i) != 0 && at.Before(within.To) && at.Add(time.Second).After(within.From) {
			s.seconds = append(s.seconds, second{at: at, n: average})
		}
	}
}
