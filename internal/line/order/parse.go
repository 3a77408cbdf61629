package order

import (
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// The kinds of orders, as the table of [approval.Actions] names them.
const (
	KindBar          approval.Kind = "line.bar"
	KindBarAgain     approval.Kind = "line.bar_again"
	KindUnbar        approval.Kind = "line.unbar"
	KindBlacklist    approval.Kind = "line.blacklist"
	KindRelease      approval.Kind = "line.release"
	KindVoid         approval.Kind = "line.void"
	KindConfirm      approval.Kind = "line.confirm"
	KindConfirmShare approval.Kind = "line.confirm_share"
	KindBackdated    approval.Kind = "line.backdated"
)

// orderKinds is the kind of event that each order becomes, and its rule.
var orderKinds = map[string]struct {
	event line.Kind
	rule  approval.Kind
}{
	"BAR": {line.Bar, KindBar}, "UNBAR": {line.Unbar, KindUnbar}, "BLACKLIST": {line.Blacklist, KindBlacklist},
	"RELEASE": {line.Release, KindRelease}, "VOID": {line.Void, KindVoid}, "CONFIRM": {line.Confirm, KindConfirm},
}

// parse turns a form into the event that it becomes, or returns everything that is
// wrong with the form.
func (s *Service) parse(f Form, zone *time.Location, now time.Time) (supply.RegulatorEvent, error) {
	var wrong fault.Form
	phoneNumber, err := s.Supply.Region.ParseMobile(f.PhoneNumber)
	wrong.Check(f.PhoneNumber != "", "phoneNumber", fault.Required, "Give the number that the order is about.")
	wrong.Check(f.PhoneNumber == "" || err == nil, "phoneNumber", fault.BadFormat, supply.NumberForm)
	of, known := orderKinds[f.Action]
	kind := of.event
	wrong.Check(f.Action != "", "action", fault.Required, "Give the action: BAR, UNBAR, BLACKLIST, RELEASE, VOID or CONFIRM.")
	wrong.Check(f.Action == "" || known, "action", fault.NotAllowed, "Give one of: BAR, UNBAR, BLACKLIST, RELEASE, VOID, CONFIRM.")
	wrong.Check(f.Note != "", "note", fault.Required, "Say in note why the order is given.")
	wrong.Check(f.Note == "" || supply.IsNote(f.Note), "note", fault.BadFormat, supply.NoteForm)
	code, coded := line.ParseCode(f.Reason)
	barring := kind == line.Bar
	wrong.Check(!barring || f.Reason != "", "reason", fault.Required, "Give the reason of the bar: "+supply.BarReasons()+".")
	wrong.Check(!barring || f.Reason == "" || coded && supply.IsBarReason(code), "reason", fault.NotAllowed, "Give one of: "+supply.BarReasons()+".")
	wrong.Check(!known || barring || f.Reason == "", "reason", fault.NotAllowed, "Only BAR has a reason. Say why in note.")
	ofEvent := kind == line.Void || kind == line.Confirm
	wrong.Check(!ofEvent || f.Event != "", "event", fault.Required, "Give the seq of the event to void or to confirm, which the history shows.")
	wrong.Check(!known || ofEvent || f.Event == "", "event", fault.NotAllowed, "Only VOID and CONFIRM take an event.")
	wrong.Check(barring || f.Scope == "", "scope", fault.NotAllowed, "Only BAR has a scope.")
	wrong.Check(f.Scope == "" || f.Scope == "HOLDER" || f.Scope == "NUMBER", "scope", fault.NotAllowed, "Give HOLDER or NUMBER.")
	at, day := line.InstantOf(now), false
	if f.EffectiveAt != "" {
		given, bare, ok := line.ParseInstant(f.EffectiveAt, zone)
		if day = bare; bare {
			given = min(given, at) // today's date is no time in the future
		}
		wrong.Check(ok, "effectiveAt", fault.BadFormat, supply.TimeForm)
		wrong.Check(!ok || !given.Time().After(now.Add(supply.MaxClockSkew)), "effectiveAt", fault.NotAllowed, "Give a time that has passed, or none.")
		wrong.Check(kind != line.Blacklist, "effectiveAt", fault.NotAllowed, "A blacklisting takes effect when it is confirmed. Leave the time out.")
		wrong.Check(!ofEvent, "effectiveAt", fault.NotAllowed, "VOID and CONFIRM take effect when their event did. Leave the time out.")
		at = given
	}
	if err := wrong.Err(); err != nil {
		return supply.RegulatorEvent{}, err
	}
	number := f.Scope == "NUMBER" || f.Scope == "" && (code == line.ReasonCourt || code == line.ReasonFraud)
	return supply.RegulatorEvent{
		Number: phoneNumber, Of: f.Event, Now: f.EffectiveAt == "",
		Event: line.Event{Kind: kind, Code: code, Number: barring && number, Note: f.Note, ReportedAt: now, Effective: at, Day: day},
	}, nil
}
