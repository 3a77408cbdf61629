package httpapi

import (
	"net/http"
	"regexp"
	"strconv"

	"github.com/lineproof/lineproof/internal/answer/impact"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// maxAcknowledged is how many events one request acknowledges.
const maxAcknowledged = 1000

var eventID = regexp.MustCompile(`^[0-9]{1,9}-[0-9]{1,18}$`)

type acknowledgedResponse struct {
	Acknowledged int      `json:"acknowledged"`
	Unknown      []string `json:"unknown"`
}

// acknowledge serves POST /api/v1/feed/acknowledgements.
func (b *Bank) acknowledge(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	var ids []string
	err := c.decode(func(wrong *fault.Form) {
		wrong.Check(len(ids) > 0, "eventIds", fault.Required, "Name the ids of the events that you have dealt with.")
		seen := make(map[string]bool, len(ids))
		for i, id := range ids {
			if field := "eventIds[" + strconv.Itoa(i) + "]"; len(wrong.Violations()) < maxWrong {
				wrong.Check(eventID.MatchString(id), field, fault.BadFormat, "Must be the id of an event, for example 1-1048577.")
				wrong.Check(!seen[id], field, fault.NotAllowed, "Is named twice. Name each event once.")
			}
			seen[id] = true
		}
	}, field{name: "eventIds", list: &ids, maxItems: maxAcknowledged})
	if err != nil {
		return err
	}
	unknown := ids
	if !c.isTest() { // only live keys get notices
		if unknown, err = b.Notices.Acknowledge(r.Context(), impact.Acknowledgement{Entity: c.owner.Entity, Events: ids, By: c.by.Actor, Request: c.by.Request}); err != nil {
			return err
		}
	}
	return c.respond(acknowledgedResponse{Acknowledged: len(ids) - len(unknown), Unknown: unknown})
}
