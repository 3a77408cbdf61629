package brokenfile

import (
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/line/linefile"
)

var (
	snapshotNames = strings.Split(strings.TrimSpace(snapshotHeader), ",")
	neededNames   = strings.Split(strings.TrimSpace(eventHeader), ",")[:4]
)

// snapshotHeaders are first lines that are not the header of a snapshot.
func snapshotHeaders() []Case {
	var kinds []Case
	for i, name := range snapshotNames {
		if name != "tenureStart" && name != "simChangedAt" {
			kinds = append(kinds, refused("column missing: "+name, strings.Join(slices.Delete(slices.Clone(snapshotNames), i, i+1), ",")+"\n"))
		}
		kinds = append(kinds,
			refused("column repeated: "+name, strings.Join(append(slices.Clone(snapshotNames), name), ",")+"\n"),
			refused("column in another case: "+name, strings.Replace(snapshotHeader, name, strings.ToUpper(name), 1)+good1),
		)
	}
	with := func(name, header string) Case { return refused("header: "+name, header+good1+good2) }
	return append(kinds,
		with("column too many", "number,tenureStart,simChangedAt,state,stateSince,network\n"),
		with("column of another name", "msisdn,tenureStart,simChangedAt,state,stateSince\n"),
		with("underscores", "number,tenure_start,sim_changed_at,state,state_since\n"),
		with("another language", "numéro,début,sim,état,depuis\n"),
		with("space before a name", "number, tenureStart,simChangedAt,state,stateSince\n"),
		with("space behind a name", "number,tenureStart ,simChangedAt,state,stateSince\n"),
		with("space at the begin", " number,tenureStart,simChangedAt,state,stateSince\n"),
		with("no-break space", "number,tenureStart,simChangedAt,state,stateSince\u00a0\n"),
		with("zero-width space", "number,tenureStart,simChangedAt,state,state\u200bSince\n"),
		with("letter of another script", "number,tenureStart,simChangedAt,st\u0430te,stateSince\n"),
		with("trailing comma", "number,tenureStart,simChangedAt,state,stateSince,\n"),
		with("leading comma", ",number,tenureStart,simChangedAt,state,stateSince\n"),
		with("semicolons", "number;tenureStart;simChangedAt;state;stateSince\n"),
		with("tabs", "number\ttenureStart\tsimChangedAt\tstate\tstateSince\n"),
		with("bars", "number|tenureStart|simChangedAt|state|stateSince\n"),
		with("spaces between", "number tenureStart simChangedAt state stateSince\n"),
		with("full-width commas", "number，tenureStart，simChangedAt，state，stateSince\n"),
		with("colons", "number:tenureStart:simChangedAt:state:stateSince\n"),
		with("none", ""),
		with("empty line before it", "\n"+snapshotHeader),
		with("title before it", "Lines of MTN as of 31 October\n"+snapshotHeader),
		with("comment before it", "# lines\n"+snapshotHeader),
		with("separator line of a spreadsheet before it", "sep=,\n"+snapshotHeader),
		with("commented out", "#"+snapshotHeader),
		with("two byte order marks", "\ufeff\ufeff"+snapshotHeader),
		with("byte order mark in the middle", "number,\ufefftenureStart,simChangedAt,state,stateSince\n"),
		with("quote that is not closed", `"number,tenureStart,simChangedAt,state,stateSince`+"\n"),
		with("quote in the middle", `num"ber,tenureStart,simChangedAt,state,stateSince`+"\n"),
		with("whole line in quotes", `"number,tenureStart,simChangedAt,state,stateSince"`+"\n"),
		with("single quotes", "'number','tenureStart','simChangedAt','state','stateSince'\n"),
		with("line break in quotes", "\"number\",\"tenure\nStart\",simChangedAt,state,stateSince\n"),
		with("NUL", "number,tenureStart,simChangedAt,state\x00,stateSince\n"),
		with("not UTF-8", "number,tenureStart,simChangedAt,stat\xe9,stateSince\n"),
		with("control character", "number,tenureStart,simChangedAt,state,stateSince\x07\n"),
		with("two carriage returns", "number,tenureStart,simChangedAt,state,stateSince\r\r\n"),
		with("one column only", "number\n"),
		with("of other columns", "number,network,status\n"),
		with("of events", eventHeader),
		with("of a refused-rows report", "line,column,reason,message\n"),
		with("4,000 commas", strings.Repeat(",", 4000)+"\n"),
		with("10,000 commas", strings.Repeat(",", 10_000)+"\n"),
		with("a column 600 times", strings.Repeat("state,", 600)+"state\n"),
		with("longer than a line may be", snapshotHeader[:len(snapshotHeader)-1]+strings.Repeat(" ", 5000)+"\n"),
		with("numbers of columns", "1,2,3,4,5\n"),
		with("empty names", `"","","","",""`+"\n"),
		with("churn date repeated", "number,tenureStart,simChangedAt,state,stateSince,churnAt,churnAt\n"),
		valid("needed columns only", "number,state,stateSince\n+2348031000001,ACTIVE,\n+2348031000002,PARKED,2026-01-01\n"),
		valid("columns in another order", "state,stateSince,number,simChangedAt,tenureStart\nACTIVE,,+2348031000001,,2019-03-04\nPARKED,2026-01-01,+2348031000002,,2019-03-04\n"),
		valid("header in quotes", `"number","tenureStart",simChangedAt,"state","stateSince"`+"\n"+good1+good2),
	)
}

// eventHeaders are first lines that are not the header of an events file.
func eventHeaders() []Case {
	var kinds []Case
	add := func(name, header string) {
		kinds = append(kinds, Case{Name: "header of events: " + name, Kind: linefile.Events, Reader: text(header + "\n" + event1), WantFileRefused: true})
	}
	for i, name := range neededNames {
		add(name+" missing", strings.Join(slices.Delete(slices.Clone(neededNames), i, i+1), ","))
	}
	add("id repeated", "id,number,type,effectiveAt,id")
	add("note repeated", "id,number,type,effectiveAt,note,note")
	add("first holder in another case", "id,number,type,effectiveAt,firstholder")
	add("other case", "ID,Number,Type,EffectiveAt")
	add("column of another name", "id,number,type,effectiveAt,operator")
	add("kind instead of type", "id,number,kind,effectiveAt")
	add("trailing comma", "id,number,type,effectiveAt,")
	add("semicolons", "id;number;type;effectiveAt")
	add("of a snapshot", strings.TrimSpace(snapshotHeader))
	add("data", strings.TrimSpace(event2))
	fine := func(name, content string) {
		kinds = append(kinds, Case{Name: "header of events: " + name, Kind: linefile.Events, Reader: text(content), WantRows: 1})
	}
	fine("needed columns only", "id,number,type,effectiveAt\ne-1,+2348031000001,USED,2026-10-30\n")
	fine("ports of the clearing house", "id,number,type,effectiveAt,network\ne-1,+2348031000001,PORTED,2026-10-30T09:00:00Z,GLO\n")
	fine("flags of a sector regulator", "id,number,type,effectiveAt,level\ne-1,+2348031000001,FLAGGED,2026-10-30T09:00:00Z,HIGH\n")
	fine("flags withdrawn", "id,number,type,effectiveAt\ne-1,+2348031000001,UNFLAGGED,2026-10-30T09:00:00Z\n")
	fine("bars of the regulator", "number,type,effectiveAt,id,reason,scope\n+2348031000001,BARRED,2026-10-30T09:00:00Z,e-1,NIN,NUMBER\n")
	fine("first holder", "id,number,type,effectiveAt,firstHolder\ne-1,+2348031000001,ASSIGNED,2026-10-30T09:00:00Z,true\n")
	fine("another order", "note,effectiveAt,type,id,number\nhello,2026-10-30,USED,e-1,+2348031000001\n")
	return kinds
}
