package client

import (
	"context"
	"time"
)

// Budgets is what a key and its organisation have left of their limits.
type Budgets struct {
	Mode        string       `json:"mode"`        // live or test
	Restriction string       `json:"restriction"` // none, slowed or stopped, for number scanning
	RateScope   string       `json:"rateScope"`   // service, node or node-half: where rates are counted
	Rates       []RateLeft   `json:"rates"`
	Budgets     []BudgetLeft `json:"budgets"`
	Sizes       RequestSizes `json:"sizes"`
}

// RateLeft is a rate, and how many requests are left of it.
type RateLeft struct {
	Name         string  `json:"name"` // key or entity
	PerSecond    float64 `json:"perSecond"`
	Burst        int     `json:"burst"`
	Remaining    int     `json:"remaining"`
	ResetSeconds int64   `json:"resetSeconds"` // until all are available again
}

// BudgetLeft is a quota or a budget. Limit and Remaining are nil if there is no limit.
type BudgetLeft struct {
	Name      string     `json:"name"` // such as numbersDay
	Limit     *int64     `json:"limit"`
	Used      int64      `json:"used"`
	Remaining *int64     `json:"remaining"`
	RenewsAt  *time.Time `json:"renewsAt"` // nil if it does not renew at a time
}

// RequestSizes is how large requests may be.
type RequestSizes struct {
	BatchNumbers int   `json:"batchNumbers"`
	FileRows     int64 `json:"fileRows"`
	FileBytes    int64 `json:"fileBytes"` // as they are sent
	ListRows     int64 `json:"listRows"`
	ListBytes    int64 `json:"listBytes"`
}

// Budgets returns what is left of the limits of a key and its organisation.
func (c *Client) Budgets(ctx context.Context, key Secret) (*Budgets, error) {
	r, err := c.newRead(ctx, "budgets", "/api/v1/budgets", key)
	if err != nil {
		return nil, err
	}
	return sendData(ctx, c, r, func(b *Budgets) bool { return b.Mode == "" || b.Budgets == nil })
}
