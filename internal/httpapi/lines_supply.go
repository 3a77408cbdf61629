package httpapi

import (
	"math"
	"net/http"
	"time"

	"github.com/lineproof/lineproof/internal/supply"
)

// supplyDays is over how many days the duty to supply is counted.
const supplyDays = 30

type supplyResponse struct {
	Operators []standing `json:"operators"`
}

type standing struct {
	Network         string         `json:"network"`
	Name            string         `json:"name"`
	KnownSince      *string        `json:"knownSince"`
	CompleteSince   *string        `json:"completeSince"`
	SuppliedThrough *string        `json:"suppliedThrough"`
	Silent          bool           `json:"silent"`
	Lines           int64          `json:"lines"`
	Capacity        int64          `json:"capacity"`
	Share           float64        `json:"share"`
	Refused         int64          `json:"refused"`
	Events          []kindStanding `json:"events"`
}

type kindStanding struct {
	Type              string `json:"type"`
	Accepted          int64  `json:"accepted"`
	Late              int64  `json:"late"`
	Early             int64  `json:"early"`
	MeanDelaySeconds  int64  `json:"meanDelaySeconds"`
	WorstDelaySeconds int64  `json:"worstDelaySeconds"`
}

// showSupply serves GET /api/v1/lines/supply.
func (a *API) showSupply(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	network, err := operatorOf(principal(ctx))
	if err != nil {
		return err
	}
	list, err := a.Lines.Standings(ctx, network, a.Lines.Now().AddDate(0, 0, -supplyDays))
	if err != nil {
		return err
	}
	answer := supplyResponse{Operators: make([]standing, len(list))}
	for i, s := range list {
		answer.Operators[i] = standingOf(s)
	}
	return a.respond(w, r, answer)
}

func standingOf(s supply.Standing) standing {
	shown := standing{
		Network: s.Network, Name: s.Name, KnownSince: stampOrNull(s.KnownSince), CompleteSince: stampOrNull(s.CompleteSince),
		SuppliedThrough: stampOrNull(s.SuppliedThrough), Silent: s.Silent, Lines: s.Lines, Capacity: s.Capacity, Refused: s.Refused,
		Events: make([]kindStanding, len(s.Kinds)),
	}
	if s.Capacity > 0 {
		shown.Share = math.Round(float64(s.Lines)/float64(s.Capacity)*1e4) / 1e4
	}
	for i, k := range s.Kinds {
		shown.Events[i] = kindStanding{
			Type: k.Kind, Accepted: k.Accepted, Late: k.Late, Early: k.Early,
			MeanDelaySeconds: int64(k.Mean / time.Second), WorstDelaySeconds: int64(k.Worst / time.Second),
		}
	}
	return shown
}
