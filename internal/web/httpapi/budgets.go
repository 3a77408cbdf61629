package httpapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	limiter "github.com/lineproof/lineproof/internal/platform/limit"
)

type budgetsResponse struct {
	Mode        string           `json:"mode"`
	Restriction string           `json:"restriction"`
	RateScope   string           `json:"rateScope"`
	Rates       []rateResponse   `json:"rates"`
	Budgets     []budgetResponse `json:"budgets"`
	Sizes       sizesResponse    `json:"sizes"`
}

type rateResponse struct {
	Name         string  `json:"name"`
	PerSecond    float64 `json:"perSecond"`
	Burst        int     `json:"burst"`
	Remaining    int     `json:"remaining"`
	ResetSeconds int64   `json:"resetSeconds"`
}

type budgetResponse struct {
	Name      string  `json:"name"`
	Limit     *int64  `json:"limit"`
	Used      int64   `json:"used"`
	Remaining *int64  `json:"remaining"`
	RenewsAt  *string `json:"renewsAt"`
}

type sizesResponse struct {
	BatchNumbers int   `json:"batchNumbers"`
	FileRows     int64 `json:"fileRows"`
	FileBytes    int64 `json:"fileBytes"`
	ListRows     int64 `json:"listRows"`
	ListBytes    int64 `json:"listBytes"`
}

// showBudgets serves GET /api/v1/budgets: what the key, and its organisation, have left. The
// rates are those of this request, and the quotas those of the guard in memory, so only what a
// key with rights has besides is read from the database.
func (b *Bank) showBudgets(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	who := principal(r.Context())
	shown := budgetsResponse{
		Mode: who.Mode, Restriction: "none",
		Sizes: sizesResponse{maxNumbers, b.Jobs.MaxRows, b.Jobs.MaxBytes, b.ListMaxRows, b.ListMaxBytes},
	}
	shown.RateScope, shown.Rates = c.api.ratesOf(r.Context(), &who)
	if c.api.guarded(who.Mode) {
		g, budget := c.api.Guard, BudgetOf(&who)
		shown.Restriction = restrictionOf(g, &who)
		left := g.Balances(who.Entity, budget)
		shown.Budgets = []budgetResponse{
			balanceOf("answersDay", left.Day), balanceOf("answersMonth", left.Month), balanceOf("numbersDay", left.Numbers), balanceOf("numbersYear", left.Year),
		}
	}
	if err := b.countThings(r.Context(), c, &who, &shown); err != nil {
		return err
	}
	return c.respond(shown)
}

// countThings adds what is counted in the database, each for the keys that have the right to it.
func (b *Bank) countThings(ctx context.Context, c *bankCall, who *access.Principal, shown *budgetsResponse) error {
	from := c.api.Access.Pool
	if slices.Contains(who.Rights, access.JobsRight) {
		if c.api.guarded(who.Mode) {
			left, err := c.api.Guard.FileBalance(ctx, from, who.Entity, BudgetOf(who))
			if err != nil {
				return err
			}
			shown.Budgets = append(shown.Budgets, balanceOf("fileNumbersDay", left))
		}
		n, err := b.Jobs.Counts(ctx, from, who.Entity)
		if err != nil {
			return err
		}
		shown.Budgets = append(shown.Budgets, countOf("jobsOpen", n.Open, n.MaxOpen), countOf("jobsDay", n.Day, n.MaxDay))
	}
	if slices.Contains(who.Rights, access.WatchRight) {
		n, most, err := b.Lists.Count(ctx, from, c.owner)
		if err != nil {
			return err
		}
		shown.Budgets = append(shown.Budgets, countOf("watchLists", n, most))
	}
	if slices.Contains(who.Rights, access.FeedRight) {
		n, most, err := b.Webhooks.Count(ctx, from, c.feedOwner())
		if err != nil {
			return err
		}
		shown.Budgets = append(shown.Budgets, countOf("webhooks", n, most))
	}
	return nil
}

// ratesOf returns the rates that a request was charged to, and where they are counted. While
// Redis is unavailable, half of each applies on each node.
func (a *API) ratesOf(ctx context.Context, who *access.Principal) (scope string, rates []rateResponse) {
	scope, rates = "node", []rateResponse{}
	factor := 1.0
	if shared, ok := a.Limits.By.(*limiter.Shared); ok {
		if scope = "service"; shared.Degraded() {
			scope, factor = "node-half", 0.5
		}
	}
	from, verdicts := a.buckets(who), &logOf(ctx).verdicts
	for i := range from {
		rate, v := from[i].rate, &verdicts[i]
		if v.Limit == 0 {
			continue // no limit
		}
		rates = append(rates, rateResponse{from[i].name, rate.PerSecond * factor, v.Limit, v.Remaining, int64(limiter.WholeSeconds(v.Reset) / time.Second)})
	}
	return scope, rates
}

func restrictionOf(g *guard.Guard, who *access.Principal) string {
	switch {
	case g.CheckStopped(who.Entity, BudgetOf(who)) != nil:
		return "stopped"
	case g.Slowed(who.Entity) < 1:
		return "slowed"
	}
	return "none"
}

func balanceOf(name string, b guard.Balance) budgetResponse {
	answer := budgetResponse{Name: name, Used: b.Used, RenewsAt: stampOrNull(b.Renews)}
	if b.Limit > 0 {
		answer.Limit, answer.Remaining = &b.Limit, &b.Left
	}
	return answer
}

// countOf is a budget that comes back by deleting or by waiting, not at a time.
func countOf(name string, used, limit int64) budgetResponse {
	left := max(limit-used, 0)
	return budgetResponse{Name: name, Limit: &limit, Used: used, Remaining: &left}
}
