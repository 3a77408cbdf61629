package bankapi

import (
	"net/http"
	"regexp"
	"strconv"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/impact"
)

// maxAcknowledged is how many events one request acknowledges, and maxAcknowledgement how
// large it may be.
const (
	maxAcknowledged    = 1000
	maxAcknowledgement = 64 << 10
)

var eventID = regexp.MustCompile(`^[0-9]{1,9}-[0-9]{1,18}$`)

type acknowledgedResponse struct {
	Acknowledged int      `json:"acknowledged"`
	Unknown      []string `json:"unknown"`
}

// acknowledge serves POST /api/v1/feed/acknowledgements.
func (a *API) acknowledge(_ http.ResponseWriter, r *http.Request, c *Call) error {
	var ids []string
	err := c.Decode(maxAcknowledgement, func(wrong *fault.Form) {
		wrong.Check(len(ids) > 0, "eventIds", fault.Required, "Name the ids of the events that you have dealt with.")
		seen := make(map[string]bool, len(ids))
		for i, id := range ids {
			if field := "eventIds[" + strconv.Itoa(i) + "]"; len(wrong.Violations()) < maxWrong {
				wrong.Check(eventID.MatchString(id), field, fault.BadFormat, "Must be the id of an event, for example 1-1048577.")
				wrong.Check(!seen[id], field, fault.NotAllowed, "Is named twice. Name each event once.")
			}
			seen[id] = true
		}
	}, Field{Name: "eventIds", List: &ids, MaxItems: maxAcknowledged})
	if err != nil {
		return err
	}
	unknown := ids
	if !c.isTest() { // only live keys get notices
		if unknown, err = a.Notices.Acknowledge(r.Context(), impact.Acknowledgement{Entity: c.Owner.Entity, Events: ids, By: c.By.Actor, Request: c.By.Request}); err != nil {
			return err
		}
	}
	return c.Respond(acknowledgedResponse{Acknowledged: len(ids) - len(unknown), Unknown: unknown})
}
