package supply

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/phone"
)

// Outcomes of an event.
const (
	Applied   = "APPLIED"   // it counts
	NoEffect  = "NO_EFFECT" // it is kept, and changes nothing as things stand
	Conflict  = "CONFLICT"  // half of a port; the other half is missing
	Duplicate = "DUPLICATE" // it was told before
	Refused   = "REFUSED"   // it is not kept
)

// Result is what became of one event.
type Result struct {
	ID      string
	Outcome string
	Field   string // that was wrong, when the event was refused
	Reason  string
	Message string
}

// skew is how far a supplier's clock may run ahead of ours.
const skew = 5 * time.Minute

// item is an event that somebody wants to tell.
type item struct {
	place  int64 // in its file
	number phone.Number
	event  line.Event
	voids  string // the id of the event to withdraw
	result Result
}

func (i *item) refuse(field, reason, message string) {
	if i.result.Outcome == "" {
		i.result.Outcome, i.result.Field, i.result.Reason, i.result.Message = Refused, field, reason, message
	}
}

// open reports whether nothing has been decided about the item yet.
func (i *item) open() bool { return i.result.Outcome == "" }

// fields says which kind takes which field beside number, time and id.
type fields struct {
	code          []line.Code // allowed values of reason or level
	codeField     string
	codeRequired  bool
	peer, churnAt bool
}

var (
	barReasons = []line.Code{line.ReasonNIN, line.ReasonFraud, line.ReasonCourt, line.ReasonLost, line.ReasonDebt, line.ReasonOther}
	takes      = map[line.Kind]fields{ //nolint:exhaustive // the others take nothing more
		line.Bar:         {code: barReasons, codeField: "reason", codeRequired: true},
		line.End:         {code: []line.Code{line.ReasonChurned, line.ReasonSurrendered}, codeField: "reason", codeRequired: true},
		line.Flag:        {code: []line.Code{line.LevelMedium, line.LevelHigh, line.LevelVeryHigh}, codeField: "level", codeRequired: true},
		line.Port:        {peer: true},
		line.ReleasePort: {peer: true},
		line.GiveNotice:  {churnAt: true},
	}
)

// judge turns what was written into an event, or refuses it for what can be
// seen without looking at the line.
func (v *voice) judge(i *item, e linefile.Event, r rules) {
	by, may := v.as(e.Kind)
	if !may {
		i.refuse("type", "NOT_ALLOWED", "This client may not tell events of this type. Ask the regulator for the scope that the documentation names.")
		return
	}
	i.event = line.Event{
		ID: e.ID, Supplier: v.supplier[by], Told: r.now, Effective: e.Effective, Kind: e.Kind, By: by, Until: line.Never, After: line.Never, Note: e.Note,
	}
	if by == line.Operator {
		i.event.Network = v.network
	}
	i.voids = e.Voids
	if e.Effective.Time().After(r.now.Add(skew)) {
		i.refuse("effectiveAt", "FUTURE", "The time lies in the future. Tell an event once it has taken effect.")
	}
	if (e.Kind == line.Void) != (e.Voids != "") {
		i.refuse("voids", "MISSING", "A VOIDED event, and no other, names in voids the id of the event that it withdraws.")
	}
	if e.Kind == line.Void && e.Note == "" && e.Reason == "" {
		i.refuse("note", "MISSING", "Say in note why the event is withdrawn.")
	}
	i.judgeFields(e, r)
}

func (i *item) judgeFields(e linefile.Event, r rules) {
	f := takes[e.Kind]
	word, other := e.Reason, e.Level
	if f.codeField == "level" {
		word, other = e.Level, e.Reason
	}
	switch code, known := line.ParseCode(word); {
	case other != "" && f.codeField != "":
		i.refuse("level", "NOT_ALLOWED", "This type takes "+f.codeField+", not the other one of reason and level.")
	case f.codeField == "" && (word != "" || other != "") && e.Kind != line.Void:
		i.refuse("reason", "NOT_ALLOWED", "This type takes neither reason nor level.")
	case f.codeRequired && word == "":
		i.refuse(f.codeField, "MISSING", "This type needs "+f.codeField+": "+wordsOf(f.code)+".")
	case f.codeField != "" && (!known || !slices.Contains(f.code, code)):
		i.refuse(f.codeField, "BAD_VALUE", "Give one of: "+wordsOf(f.code)+".")
	case f.codeField != "":
		i.event.Code = code
	}
	i.judgePeer(e, f.peer, r.plan)
	switch {
	case f.churnAt == (e.ChurnAt == line.Never):
		i.refuse("churnAt", "MISSING", "A CHURN_NOTICE, and no other event, says in churnAt when the line will churn.")
	case f.churnAt && e.ChurnAt < e.Effective.Add(r.policy.Notice()):
		i.refuse("churnAt", "TOO_SOON", "The churn must lie at least "+strconv.Itoa(r.policy.NoticeDays)+" days after effectiveAt, when the notice was given.")
	case f.churnAt:
		i.event.Until = e.ChurnAt
	}
}

func (i *item) judgePeer(e linefile.Event, wanted bool, plan *numbering.Plan) {
	peer, known := plan.Network(e.Network)
	switch {
	case wanted && e.Network == "":
		i.refuse("network", "MISSING", "Say in network to which network the number goes.")
	case !wanted && e.Network != "":
		i.refuse("network", "NOT_ALLOWED", "Only PORTED and PORT_RELEASED name a network.")
	case wanted && !known:
		i.refuse("network", "BAD_VALUE", "The numbering plan has no network with this code.")
	case wanted && peer == i.event.Network:
		i.refuse("network", "BAD_VALUE", "A number is not ported to the network that has it.")
	case wanted:
		i.event.Peer = peer
	}
}

func wordsOf(codes []line.Code) string {
	words := make([]string, len(codes))
	for i, c := range codes {
		words[i] = c.String()
	}
	return strings.Join(words, ", ")
}
