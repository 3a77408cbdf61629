package supply

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/phone"
)

const (
	// maxClockSkew is how far a supplier's clock may be ahead of ours.
	maxClockSkew = time.Minute
	// maxID and maxNote are the longest id and note, in characters.
	maxID   = 64
	maxNote = 200
)

// What to write instead, in messages of several fields.
const (
	timeForm   = "Write a time like 2026-01-31T13:45:00Z, or a date."
	numberForm = "Write a mobile number of this country."
	noteForm   = "Write at most 200 printable characters."
)

// item is one event of a report on its way through the steps: parsed,
// authorised, applied. The first step that refuses it sets its result, and the
// later steps skip it.
type item struct {
	number phone.Number
	event  line.Event
	voids  string // the id of the event to void, as it was written
	ofBar  bool   // it confirms a bar that would lapse
	result Result
}

// refuse sets the result. An item keeps the first reason for which it is refused.
func (i *item) refuse(field, reason, message string) {
	if i.undecided() {
		i.result.Outcome, i.result.Field, i.result.Reason, i.result.Message = Refused, field, reason, message
	}
}

// undecided reports whether the item has no result yet.
func (i *item) undecided() bool { return i.result.Outcome == "" }

// parseItem parses an event of a call. A file is parsed by package linefile, and
// goes on with parseEvent.
func (i *item) parseItem(from *Item, region *phone.Region, by *resolvedSupplier, r rules) {
	i.result.ID = from.ID
	var err error
	if i.number, err = region.ParseMobile(from.PhoneNumber); err != nil {
		i.refuse("phoneNumber", "BAD_FORMAT", numberForm)
	}
	e := linefile.Event{
		ID: from.ID, Network: from.Network, Level: from.Level, Reason: from.Reason, Scope: from.Scope, FirstHolder: from.FirstHolder,
		Voids: from.Voids, Note: from.Note, ChurnAt: line.Never,
	}
	if !printable(from.ID, maxID) {
		i.refuse("id", "BAD_FORMAT", "Give each event an id of 1 to 64 printable characters.")
	}
	if from.Note != "" && !printable(from.Note, maxNote) {
		i.refuse("note", "BAD_FORMAT", noteForm)
	}
	var ok bool
	if e.Kind, ok = line.ParseKind(from.Type); !ok {
		i.refuse("type", "BAD_VALUE", "Give one of the types that the documentation lists.")
	}
	if e.Effective, e.Day, ok = line.ParseInstant(from.EffectiveAt, r.policy.Zone()); !ok {
		i.refuse("effectiveAt", "BAD_FORMAT", timeForm)
	}
	if from.ChurnAt != "" {
		if e.ChurnAt, _, ok = line.ParseInstant(from.ChurnAt, r.policy.Zone()); !ok {
			i.refuse("churnAt", "BAD_FORMAT", timeForm)
		}
	}
	if i.undecided() {
		i.parseEvent(e, by, r)
	}
}

// parseEvent turns a written event into a line.Event, or refuses it for anything
// that is wrong whatever the state of the line.
func (i *item) parseEvent(e linefile.Event, by *resolvedSupplier, r rules) {
	authority, ok := by.authorityFor(e.Kind)
	if !ok {
		i.refuse("type", "NOT_ALLOWED", "This client may not report events of this type. Ask the regulator for the scope that the documentation names.")
		return
	}
	i.event = line.Event{
		ID: e.ID, Supplier: by.supplierIDs[authority], ReportedAt: r.now, Effective: e.Effective, Kind: e.Kind, Authority: authority,
		Day: e.Day, Until: line.Never, EndedAfter: line.Never, Note: e.Note,
	}
	if authority == line.Operator {
		i.event.Network = by.network
	}
	i.voids = e.Voids
	first := e.Effective
	if e.Day {
		// A bare date lies in the future if its day has not begun.
		first = line.DayStart(e.Effective, r.policy.Zone())
		if e.Kind == line.End {
			i.event.Effective = first // so that an ASSIGNED of the same day comes after it
		}
	}
	if first.Time().After(r.now.Add(maxClockSkew)) {
		i.refuse("effectiveAt", "FUTURE", "The time is in the future. Report an event once it has taken effect.")
	}
	if (e.Kind == line.Void) != (e.Voids != "") {
		i.refuse("voids", "MISSING", "A VOIDED event, and no other, gives in voids the id of the event that it voids.")
	}
	if e.Kind == line.Void && e.Note == "" && e.Reason == "" {
		i.refuse("note", "MISSING", "Say in note why the event is voided.")
	}
	i.parseFields(e, r)
}

// kindFields are the fields that a kind of event takes beside number, time, id
// and note.
type kindFields struct {
	code         []line.Code // the allowed values of codeField
	codeField    string      // reason, level, or empty
	codeRequired bool
	peer         bool // network: where the number is ported to
	churnAt      bool
	scope        bool // HOLDER or NUMBER
	first        bool // firstHolder
}

var (
	barReasons   = []line.Code{line.ReasonNIN, line.ReasonFraud, line.ReasonCourt, line.ReasonLost, line.ReasonDebt, line.ReasonOther}
	fieldsByKind = map[line.Kind]kindFields{ //nolint:exhaustive // the other kinds take no more fields
		line.Assign:      {first: true},
		line.Bar:         {code: barReasons, codeField: "reason", codeRequired: true, scope: true},
		line.End:         {code: []line.Code{line.ReasonChurned, line.ReasonSurrendered, line.ReasonFraud, line.ReasonOther}, codeField: "reason", codeRequired: true},
		line.Flag:        {code: []line.Code{line.LevelMedium, line.LevelHigh, line.LevelVeryHigh}, codeField: "level", codeRequired: true},
		line.Port:        {peer: true},
		line.ReleasePort: {peer: true},
		line.GiveNotice:  {churnAt: true},
	}
)

// parseFields parses reason, level, network and churnAt, each of which only some
// kinds take.
func (i *item) parseFields(e linefile.Event, r rules) {
	takes := fieldsByKind[e.Kind]
	given, other := e.Reason, e.Level
	if takes.codeField == "level" {
		given, other = e.Level, e.Reason
	}
	switch code, known := line.ParseCode(given); {
	case other != "" && takes.codeField != "":
		i.refuse("level", "NOT_ALLOWED", "This type takes "+takes.codeField+", not the other one of reason and level.")
	case takes.codeField == "" && (given != "" || other != "") && e.Kind != line.Void:
		i.refuse("reason", "NOT_ALLOWED", "This type takes neither reason nor level.")
	case takes.codeRequired && given == "":
		i.refuse(takes.codeField, "MISSING", "This type needs "+takes.codeField+": "+joinCodes(takes.code)+".")
	case takes.codeField == "reason" && i.event.Authority == line.Operator && !slices.Contains(takes.code, code):
		i.event.Code = line.ReasonOther // that the line is barred or has ended matters more than an operator's own word for why
	case takes.codeField != "" && (!known || !slices.Contains(takes.code, code)):
		i.refuse(takes.codeField, "BAD_VALUE", "Give one of: "+joinCodes(takes.code)+".")
	case takes.codeField != "":
		i.event.Code = code
	}
	i.parsePeer(e, takes.peer, r.plan)
	i.parseScope(e, takes.scope)
	i.event.First = e.FirstHolder
	if e.FirstHolder && !takes.first {
		i.refuse("firstHolder", "NOT_ALLOWED", "Only ASSIGNED can have a first holder.")
	}
	switch {
	case takes.churnAt == (e.ChurnAt == line.Never):
		i.refuse("churnAt", "MISSING", "A CHURN_NOTICE, and no other event, gives in churnAt when the line will churn.")
	case takes.churnAt && e.ChurnAt < e.Effective.Add(r.policy.Notice()):
		i.refuse("churnAt", "TOO_SOON", "The churn must be at least "+strconv.Itoa(r.policy.NoticeDays)+" days after effectiveAt, the time of the notice.")
	case takes.churnAt:
		i.event.Until = e.ChurnAt
	}
}

// parsePeer parses the network to which a number is ported.
func (i *item) parsePeer(e linefile.Event, wanted bool, plan *numbering.Plan) {
	peer, known := plan.Network(e.Network)
	switch {
	case wanted && e.Network == "":
		i.refuse("network", "MISSING", "Give in network the code of the network to which the number goes.")
	case !wanted && e.Network != "":
		i.refuse("network", "NOT_ALLOWED", "Only PORTED and PORT_RELEASED have a network.")
	case wanted && !known:
		i.refuse("network", "BAD_VALUE", "The numbering plan has no network with this code.")
	case wanted && peer == i.event.Network:
		i.refuse("network", "BAD_VALUE", "A number cannot be ported to the network that already has it.")
	case wanted:
		i.event.Peer = peer
	}
}

// parseScope parses on what a bar of the regulator is: on the holder or on the
// number. A court or a fraud concerns the number, whoever holds it; every other
// reason the holder.
func (i *item) parseScope(e linefile.Event, wanted bool) {
	wanted = wanted && i.event.Authority == line.Regulator
	switch {
	case e.Scope != "" && !wanted:
		i.refuse("scope", "NOT_ALLOWED", "Only a BARRED of the regulator has a scope.")
	case e.Scope == "":
		i.event.Number = wanted && (i.event.Code == line.ReasonCourt || i.event.Code == line.ReasonFraud)
	case e.Scope == "NUMBER", e.Scope == "HOLDER":
		i.event.Number = e.Scope == "NUMBER"
	default:
		i.refuse("scope", "BAD_VALUE", "Give HOLDER or NUMBER.")
	}
}

func joinCodes(codes []line.Code) string {
	words := make([]string, len(codes))
	for i, c := range codes {
		words[i] = c.String()
	}
	return strings.Join(words, ", ")
}

// printable reports whether text has 1 to limit characters, all of them printable.
func printable(text string, limit int) bool {
	if text == "" || !utf8.ValidString(text) || utf8.RuneCountInString(text) > limit {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
