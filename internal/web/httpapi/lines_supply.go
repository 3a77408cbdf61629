package httpapi

import (
	"math"
	"net/http"
	"time"

	"github.com/lineproof/lineproof/internal/line/supply"
)

// supplyDays is the number of days over which events are counted.
const supplyDays = 30

type supplyResponse struct {
	Operators []networkStatus `json:"operators"`
}

type networkStatus struct {
	Network         string            `json:"network"`
	Name            string            `json:"name"`
	KnownSince      *string           `json:"knownSince"`
	CompleteSince   *string           `json:"completeSince"`
	SuppliedThrough *string           `json:"suppliedThrough"`
	Topics          []topicStatus     `json:"topics"`
	Silent          bool              `json:"silent"`
	Lines           int64             `json:"lines"`
	Capacity        int64             `json:"capacity"`
	Share           float64           `json:"share"`
	Refused         int64             `json:"refused"`
	Events          []eventTypeStatus `json:"events"`
}

type topicStatus struct {
	Topic           string  `json:"topic"`
	SuppliedThrough *string `json:"suppliedThrough"`
	Required        bool    `json:"required"`
	Fresh           *bool   `json:"fresh"` // null if the topic is not required
	Doubtful        bool    `json:"doubtful"`
}

type eventTypeStatus struct {
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
	list, err := a.Lines.NetworkStatuses(ctx, network, a.Lines.Now().AddDate(0, 0, -supplyDays))
	if err != nil {
		return err
	}
	answer := supplyResponse{Operators: make([]networkStatus, len(list))}
	for i, s := range list {
		answer.Operators[i] = networkStatusOf(s)
	}
	return a.respond(w, r, answer)
}

func networkStatusOf(s supply.NetworkStatus) networkStatus {
	shown := networkStatus{
		Network: s.Network, Name: s.Name, KnownSince: stampOrNull(s.KnownSince), CompleteSince: stampOrNull(s.CompleteSince),
		SuppliedThrough: stampOrNull(s.SuppliedThrough), Silent: s.Silent, Lines: s.Lines, Capacity: s.Capacity, Refused: s.Refused,
		Topics: make([]topicStatus, len(s.Topics)), Events: make([]eventTypeStatus, len(s.Kinds)),
	}
	for i, t := range s.Topics {
		shown.Topics[i] = topicStatus{Topic: t.Topic.String(), SuppliedThrough: stampOrNull(t.Through), Required: t.Required, Doubtful: t.Doubtful}
		if t.Required {
			shown.Topics[i].Fresh = &t.Fresh
		}
	}
	if s.Capacity > 0 {
		shown.Share = math.Round(float64(s.Lines)/float64(s.Capacity)*1e4) / 1e4
	}
	for i, k := range s.Kinds {
		shown.Events[i] = eventTypeStatus{
			Type: k.Kind, Accepted: k.Accepted, Late: k.Late, Early: k.Early,
			MeanDelaySeconds: int64(k.MeanDelay / time.Second), WorstDelaySeconds: int64(k.MaxDelay / time.Second),
		}
	}
	return shown
}
