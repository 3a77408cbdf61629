package brokenfile

import (
	"strings"

	"github.com/lineproof/lineproof/internal/line/linefile"
)

// events are what goes wrong with events files.
func events() []Case {
	const rest = ",+2348031000003,USED,2026-10-30,,,,,,"
	fine := func(name, middle string) Case {
		c := event("event: "+name, middle, "", "")
		c.WantRefusals, c.WantRows = nil, 3
		return c
	}
	const header, more = "id,number,type,effectiveAt,scope,firstHolder\n", "e-1,+2348031000001,SIM_CHANGED,2026-10-30T09:00:00Z,,\n"
	wider := func(name, middle, field string, reason string) Case {
		c := event("event: "+name, "", field, reason)
		c.Reader = text(header + more + middle + "\n" + strings.Replace(more, "e-1", "e-1b", 1))
		return c
	}
	return []Case{
		wider("tab in the scope", "e-3,+2348031000003,BARRED,2026-10-30,HOL\tDER,", "scope", linefile.BadFormat),
		wider("first holder in capitals", "e-3,+2348031000003,ASSIGNED,2026-10-30,,TRUE", "firstHolder", linefile.NotAllowed),
		wider("first holder: yes", "e-3,+2348031000003,ASSIGNED,2026-10-30,,yes", "firstHolder", linefile.NotAllowed),
		wider("first holder: 1", "e-3,+2348031000003,ASSIGNED,2026-10-30,,1", "firstHolder", linefile.NotAllowed),
		wider("first holder: a space", "e-3,+2348031000003,ASSIGNED,2026-10-30,, ", "firstHolder", linefile.NotAllowed),
		event("event: no id", rest, "id", linefile.Missing),
		event("event: id of 65 characters", strings.Repeat("x", 65)+rest, "id", linefile.TooLong),
		event("event: id of 65 letters of two bytes", strings.Repeat("é", 65)+rest, "id", linefile.TooLong),
		event("event: tab in the id", "a\tb"+rest, "id", linefile.BadFormat),
		event("event: escape in the id", "\x1b]0;x"+rest, "id", linefile.BadFormat),
		event("event: delete character in the id", "a\x7f"+rest, "id", linefile.BadFormat),
		event("event: text turned round in the id", "a\u202eb"+rest, "id", linefile.BadFormat),
		event("event: invisible character in the id", "a\u200bb"+rest, "id", linefile.BadFormat),
		event("event: no-break space in the id", "a\u00a0b"+rest, "id", linefile.BadFormat),
		event("event: byte order mark in the id", "\ufeffa"+rest, "id", linefile.BadFormat),
		event("event: private character in the id", "a\ue000"+rest, "id", linefile.BadFormat),
		event("event: NUL in the id", "a\x00"+rest, "", linefile.BadEncoding),
		event("event: Latin-1 in the note", "e-3,+2348031000003,USED,2026-10-30,,,,,,caf\xe9", "", linefile.BadEncoding),
		event("event: control character in the note", "e-3,+2348031000003,USED,2026-10-30,,,,,,a\x07b", "note", linefile.BadFormat),
		event("event: carriage return in the note", "e-3,+2348031000003,USED,2026-10-30,,,,,,a\rb", "note", linefile.BadFormat),
		event("event: line separator in the note", "e-3,+2348031000003,USED,2026-10-30,,,,,,a\u2028b", "note", linefile.BadFormat),
		event("event: tab in the network", "e-3,+2348031000003,USED,2026-10-30,M\tTN,,,,,", "network", linefile.BadFormat),
		event("event: tab in the level", "e-3,+2348031000003,FLAGGED,2026-10-30,,HI\tGH,,,,", "level", linefile.BadFormat),
		event("event: tab in the reason", "e-3,+2348031000003,BARRED,2026-10-30,,,LO\tST,,,", "reason", linefile.BadFormat),
		event("event: tab in voids", "e-3,+2348031000003,VOIDED,2026-10-30,,,,,e\t1,", "voids", linefile.BadFormat),
		event("event: voids of 65 characters", "e-3,+2348031000003,VOIDED,2026-10-30,,,,,"+strings.Repeat("x", 65)+",", "voids", linefile.TooLong),
		event("event: no number", "e-3,,USED,2026-10-30,,,,,,", "number", linefile.Missing),
		event("event: foreign number", "e-3,+447400123456,USED,2026-10-30,,,,,,", "number", linefile.NotMobile),
		event("event: scientific notation", "e-3,2.34803E+12,USED,2026-10-30,,,,,,", "number", linefile.BadFormat),
		event("event: no type", "e-3,+2348031000003,,2026-10-30,,,,,,", "type", linefile.Missing),
		event("event: type in small letters", "e-3,+2348031000003,used,2026-10-30,,,,,,", "type", linefile.NotAllowed),
		event("event: type that does not exist", "e-3,+2348031000003,EXPLODED,2026-10-30,,,,,,", "type", linefile.NotAllowed),
		event("event: state for a type", "e-3,+2348031000003,QUARANTINED,2026-10-30,,,,,,", "type", linefile.NotAllowed),
		event("event: type that staff make", "e-3,+2348031000003,CONFIRMED,2026-10-30,,,,,,", "type", linefile.NotAllowed),
		event("event: type that a snapshot makes", "e-3,+2348031000003,RESTATED,2026-10-30,,,,,,", "type", linefile.NotAllowed),
		event("event: type with a space", "e-3,+2348031000003,USED ,2026-10-30,,,,,,", "type", linefile.NotAllowed),
		event("event: endless type", "e-3,+2348031000003,"+strings.Repeat("A", 2000)+",2026-10-30,,,,,,", "type", linefile.NotAllowed),
		event("event: no time", "e-3,+2348031000003,USED,,,,,,,", "effectiveAt", linefile.Missing),
		event("event: 30 February", "e-3,+2348031000003,USED,2026-02-30,,,,,,", "effectiveAt", linefile.BadFormat),
		event("event: day first", "e-3,+2348031000003,USED,30/10/2026,,,,,,", "effectiveAt", linefile.BadFormat),
		event("event: local time", "e-3,+2348031000003,USED,2026-10-30T10:00:00,,,,,,", "effectiveAt", linefile.BadFormat),
		event("event: 61 seconds ahead", "e-3,+2348031000003,USED,2026-11-01T12:01:01Z,,,,,,", "effectiveAt", linefile.Future),
		event("event: tomorrow", "e-3,+2348031000003,USED,2026-11-02,,,,,,", "effectiveAt", linefile.Future),
		event("event: before mobile telephony", "e-3,+2348031000003,USED,1970-01-01,,,,,,", "effectiveAt", linefile.OutOfRange),
		event("event: churn on no date", "e-3,+2348031000003,CHURN_NOTICE,2026-10-30,,,,in two weeks,,", "churnAt", linefile.BadFormat),
		event("event: churn in 2100", "e-3,+2348031000003,CHURN_NOTICE,2026-10-30,,,,2100-01-01,,", "churnAt", linefile.OutOfRange),
		event("event: column missing", "e-3,+2348031000003,USED,2026-10-30", "", linefile.BadColumns),
		event("event: comma in the note", "e-3,+2348031000003,USED,2026-10-30,,,,,,so, he said", "", linefile.BadColumns),
		event("event: quote in the note", `e-3,+2348031000003,USED,2026-10-30,,,,,,the "owner" called`, "", linefile.BadQuotes),
		also(event("event: line break in the note", "e-3,+2348031000003,USED,2026-10-30,,,,,,\"first\nsecond\"", "", linefile.BadQuotes), linefile.BadQuotes),
		event("event: endless note", "e-3,+2348031000003,USED,2026-10-30,,,,,,"+strings.Repeat("x", 4096), "", linefile.TooLong),
		event("event: row of a snapshot", strings.TrimSpace(good1), "", linefile.BadColumns),
		fine("a minute ahead", "e-3,+2348031000003,USED,2026-11-01T12:01:00Z,,,,,,"),
		fine("today", "e-3,+2348031000003,USED,2026-11-01,,,,,,"),
		fine("churn in the future", "e-3,+2348031000003,CHURN_NOTICE,2026-10-30,,,,2027-01-01,,"),
		fine("id of 64 letters of two bytes", strings.Repeat("é", 64)+rest),
		fine("comma and quotes in the note", `e-3,+2348031000003,USED,2026-10-30,,,,,,"so, the ""owner"" said"`),
		fine("note that fills the line", "e-3,+2348031000003,USED,2026-10-30,,,,,,"+strings.Repeat("x", 4096-40)),
	}
}
