package remote

import (
	"cmp"

	"github.com/lineproof/lineproof/client"
)

type dates struct {
	TenureStart   date `json:"tenureStart"`
	LastSIMChange date `json:"lastSimChange"`
	LastPort      date `json:"lastPort"`
}

type date struct {
	Value      *string          `json:"value"`
	Precision  client.Precision `json:"precision"`
	KnownSince *string          `json:"knownSince"`
}

func dateOf(d *client.Date) date {
	result := date{Precision: d.Precision, KnownSince: timeOrNull(d.KnownSince)}
	if d.Value != "" {
		result.Value = &d.Value
	}
	return result
}

// dateRows formats the dates of a line: each is its value, or why it has none.
func dateRows(d *client.Dates) [][]string {
	if d == nil {
		return nil
	}
	text := func(d client.Date) string { return cmp.Or(d.Value, string(d.Precision)) }
	return [][]string{{"tenure start", text(d.TenureStart)}, {"last SIM change", text(d.LastSIMChange)}, {"last port", text(d.LastPort)}}
}
