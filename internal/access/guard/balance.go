package guard

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// Balance is what an organisation has of a quota or a budget, and has used of it.
type Balance struct {
	Limit  int64 // 0: none
	Used   int64 // by the organisation itself
	Left   int64 // less than Limit-Used if the other organisations of its sponsor have used what they share; 0 without a limit
	Renews time.Time
}

// Balances has the balances of an organisation.
type Balances struct{ Day, Month, Numbers, Year Balance }

// Balances returns what an organisation has left, by the counts of this node that also decide
// about its requests. It reads nothing from the database.
func (g *Guard) Balances(entity uuid.UUID, b Budget) Balances {
	o, now := g.sponsored(entity, b.Sponsor), g.Now()
	o.mu.Lock()
	o.startDay(now)
	o.warm(&b)
	numbers, year := o.today().numbers, o.year.numbers.Count()
	answered := o.today().answered + o.inFlight
	month := o.month + answered
	o.mu.Unlock()
	all := Balances{
		Day: balance(b.Day, answered, tomorrow(now)), Month: balance(b.Month, month, nextMonth(now)),
		Numbers: balance(b.Numbers, numbers, tomorrow(now)), Year: balance(b.Year, year, nextYear(now)),
	}
	if s := o.sponsor.Load(); s != nil {
		s.mu.Lock()
		s.startDay(now)
		numbers, year := s.today().numbers, s.year.numbers.Count()
		s.mu.Unlock()
		all.Numbers.share(b.SponsorNumbers, numbers)
		all.Year.share(b.SponsorYear, year)
	}
	return all
}

// FileBalance returns how many numbers the files of this day may still have.
func (g *Guard) FileBalance(ctx context.Context, from pg.DB, entity uuid.UUID, b Budget) (Balance, error) {
	o, now := g.sponsored(entity, b.Sponsor), g.Now()
	o.mu.Lock()
	o.warm(&b)
	o.mu.Unlock()
	var own, all int64
	err := from.QueryRow(ctx, `SELECT coalesce(sum(file_spent) FILTER (WHERE subject_id = $1), 0)::bigint, coalesce(sum(file_spent) FILTER (WHERE subject_id = $2), 0)::bigint
		FROM guard_entered WHERE subject_id IN ($1, $2) AND year = $3 AND file_day = $4`, entity, b.Sponsor, yearOf(dayOf(now)), dayOf(now)).Scan(&own, &all)
	if err != nil {
		return Balance{}, fmt.Errorf("guard: read what files have: %w", err)
	}
	left := balance(FilesOf(b.Numbers), own, tomorrow(now))
	if b.Sponsor != uuid.Nil {
		left.share(FilesOf(b.SponsorNumbers), all)
	}
	return left, nil
}

func balance(limit, used int64, renews time.Time) Balance {
	return Balance{Limit: max(limit, 0), Used: used, Left: max(limit-used, 0), Renews: renews}
}

// share reduces a balance to what is left of a budget of several organisations.
func (b *Balance) share(limit, used int64) {
	if limit <= 0 {
		return
	}
	if b.Limit == 0 {
		b.Limit, b.Left = limit, limit
	}
	b.Limit, b.Left = min(b.Limit, limit), min(b.Left, max(limit-used, 0))
}
