package brokenfile

import (
	"strings"

	"github.com/lineproof/lineproof/internal/line/linefile"
)

// numbers are cells that are no mobile numbers of Nigeria.
func numbers() []Case {
	of := func(reason string, cells map[string]string) (kinds []Case) {
		for _, name := range sorted(cells) {
			kinds = append(kinds, row("number: "+name, cells[name]+",2019-03-04,,ACTIVE,", "number", reason))
		}
		return kinds
	}
	return append(append(of(linefile.BadFormat, map[string]string{
		"only spaces":                  "   ",
		"letters":                      "MTN subscriber",
		"NULL":                         "NULL",
		"zero":                         "0",
		"dash":                         "-",
		"scientific notation":          "2.34803E+12",
		"scientific, lower case":       "2.348031e12",
		"decimals":                     "2348031000003.00",
		"digit missing":                "+234803100000",
		"digit too many":               "+23480310000033",
		"rounded by a spreadsheet":     "2348030000000000",
		"longer than any number":       strings.Repeat("8", 40),
		"two plus signs":               "++2348031000003",
		"plus in the middle":           "234+8031000003",
		"plus at the end":              "2348031000003+",
		"plus before the trunk zero":   "+08031000003",
		"address":                      "tel:+2348031000003",
		"extension":                    "08031000003x5",
		"two numbers":                  "08031000003/08031000004",
		"masked":                       "+234803****03",
		"hashed":                       "9f86d081884c7d659a2feaa0c55ad015",
		"apostrophe of a spreadsheet":  "'08031000003",
		"tab in front":                 "\t08031000003",
		"tab within":                   "0803\t1000003",
		"no-break space":               "0803\u00a01000003",
		"zero-width space":             "08031000003\u200b",
		"right-to-left mark":           "\u200f08031000003",
		"byte order mark":              "\ufeff08031000003",
		"en dash":                      "0803\u20131000003",
		"full-width digits":            "\uff10\uff18\uff10\uff13\uff11\uff10\uff10\uff10\uff10\uff10\uff13",
		"Arabic digits":                "\u0660\u0668\u0660\u0663\u0661\u0660\u0660\u0660\u0660\u0660\u0663",
		"letter O for zero":            "O8O31OOOOO3",
		"hexadecimal":                  "0x222C9B0A903",
		"underscores":                  "0803_100_0003",
		"slash":                        "0803/1000003",
		"delete character":             "08031000003\x7f",
		"escape character":             "\x1b[31m08031000003",
		"IMSI":                         "621300123456789",
		"ICCID":                        "89234000000000000001",
		"country that does not exist":  "+9998031000003",
		"header again":                 "number",
		"formula without its quotes":   "=08031000003",
		"short code":                   "131",
		"HTML entity":                  "&#43;2348031000003",
		"percent signs":                "%2B2348031000003",
		"vanity letters":               "0803CALLME1",
		"Roman numeral":                "MMXX",
		"range of numbers":             "08031000003-08031000009",
		"question mark":                "?",
		"quoted nothing but a space":   `" "`,
		"quoted number, quote doubled": `"0803""1000003"`,
	}), of(linefile.NotMobile, map[string]string{
		"British":                "+447400123456",
		"British with 00":        "00447400123456",
		"Ghanaian":               "+233244123456",
		"American":               "+12125550123",
		"satellite":              "+870773111632",
		"fixed line of Lagos":    "02012345678",
		"toll-free":              "+2348001234567",
		"range that is not open": "07000000000",
	})...), of(linefile.Missing, map[string]string{"empty": "", "empty quotes": `""`})...)
}

// tenures are cells that are no start of a tenure.
func tenures() []Case {
	of := func(reason string, cells map[string]string) (kinds []Case) {
		for _, name := range sorted(cells) {
			kinds = append(kinds, row("tenureStart: "+name, "+2348031000003,"+cells[name]+",,ACTIVE,", "tenureStart", reason))
		}
		return kinds
	}
	kinds := of(linefile.BadFormat, map[string]string{
		"only spaces": "  ", "NULL": "NULL", "zeros": "0000-00-00", "30 February": "2020-02-30", "29 February of 2025": "2025-02-29",
		"29 February of 1900": "1900-02-29", "31 April": "2020-04-31", "month 13": "2020-13-01", "month 0": "2020-00-10", "day 0": "2020-01-00",
		"day 32": "2020-01-32", "day first": "31/01/2020", "month first": "01/31/2020", "day first with dashes": "31-01-2020",
		"slashes": "2020/01/31", "dots": "2020.01.31", "German": "31.01.2020", "no dashes": "20200131", "short month": "2020-1-31",
		"short day": "2020-01-3", "two digits of the year": "20-01-31", "month by name": "31 Jan 2020", "American words": "\"Jan 31, 2020\"",
		"day of a spreadsheet": "43861", "seconds since 1970": "1580428800", "milliseconds since 1970": "1580428800000",
		"week": "2020-W05-5", "day of the year": "2020-031", "no zone": "2020-01-31T10:00:00", "space for T": "2020-01-31 10:00:00Z",
		"small t": "2020-01-31t10:00:00Z", "small z": "2020-01-31T10:00:00z", "hour 24": "2020-01-31T24:00:00Z", "hour 25": "2020-01-31T25:00:00Z",
		"minute 60": "2020-01-31T10:60:00Z", "leap second": "2016-12-31T23:59:60Z", "short hour": "2020-01-31T9:00:00Z", "no seconds": "2020-01-31T10:00Z",
		"offset without colon": "2020-01-31T10:00:00+0100", "offset of hours": "2020-01-31T10:00:00+01", "offset of 25 hours": "2020-01-31T10:00:00+25:00",
		"zone by name": "2020-01-31T10:00:00 WAT", "comma before the fraction": "\"2020-01-31T10:00:00,5Z\"", "fraction without digits": "2020-01-31T10:00:00.Z",
		"fraction without end": "2020-01-31T10:00:00." + strings.Repeat("1", 60) + "Z", "negative year": "-2020-01-31", "year of five digits": "12020-01-31",
		"Z behind a date": "2020-01-31Z", "space in front": " 2020-01-31", "space behind": "2020-01-31 ", "full-width digits": "\uff12\uff10\uff12\uff10-01-31",
		"minus signs": "2020\u221201\u221231", "word": "yesterday", "only a time": "10:00:00", "letter O": "2O20-01-31", "duration": "P5Y", "tab": "\t2020-01-31",
		"unknown in small letters": "unknown", "unknown with a capital": "Unknown", "space behind unknown": "UNKNOWN ", "never": "NEVER", "not available": "N/A",
	})
	kinds = append(kinds, of(linefile.OutOfRange, map[string]string{
		"year 0": "0000-01-01", "year 1": "0001-01-01", "1900": "1900-01-01", "1989": "1989-12-31", "the second before 1990": "1989-12-31T23:59:59Z",
		"1989 with an offset": "1989-12-31T23:30:00-01:00", "first day after the last": "2088-01-01", "2089": "2089-01-01", "9999": "9999-12-31",
	})...)
	return append(kinds, of(linefile.Future, map[string]string{
		"the second after asOf": "2026-10-31T00:00:01Z", "the day after": "2026-11-01", "a year ahead": "2027-10-31", "ahead by its offset": "2026-10-31T00:30:00-01:00",
		"last second of all": "2087-12-31T23:59:59Z",
	})...)
}

// states are cells that are no state of a line.
func states() []Case {
	var kinds []Case
	cells := map[string]string{
		"only spaces": " ", "small letters": "active", "first letter large": "Active", "unknown": "PERFECT", "none": "NONE", "a status": "NORMAL",
		"another status": "SWAPPED", "space in front": " ACTIVE", "space behind": "ACTIVE ", "cut short": "ACTIV", "space for underscore": "PENDING CHURN",
		"dash for underscore": "PENDING-CHURN", "code": "1", "letter of another script": "\u0410CTIVE", "NULL": "NULL", "French": "ACTIF", "yes": "Y", "true": "TRUE",
		"endless": strings.Repeat("A", 1000), "two": "ACTIVE/BARRED", "event": "ENDED", "quoted twice": `"""ACTIVE"""`,
	}
	for _, name := range sorted(cells) {
		kinds = append(kinds, row("state: "+name, "+2348031000003,2019-03-04,,"+cells[name]+",2020-01-01", "state", linefile.NotAllowed))
	}
	kinds = append(kinds, row("state: empty", "+2348031000003,2019-03-04,,,", "state", linefile.Missing))
	for _, word := range []string{"INACTIVE", "PARKED", "PENDING_CHURN", "BARRED", "QUARANTINED"} {
		kinds = append(kinds, row("stateSince: empty for "+word, "+2348031000003,2019-03-04,,"+word+",", "stateSince", linefile.Missing))
	}
	return kinds
}

// otherTimes are wrong times in the other columns of a snapshot.
func otherTimes() []Case {
	return []Case{
		row("stateSince: before the tenure", "+2348031000003,2019-03-04,,PARKED,2019-03-03", "stateSince", linefile.BeforeTenure),
		row("stateSince: the second before the tenure", "+2348031000003,2019-03-04,,PARKED,2019-03-03T23:59:59Z", "stateSince", linefile.BeforeTenure),
		row("stateSince: before the tenure of a line in use", "+2348031000003,2019-03-04,,ACTIVE,2018-01-01", "stateSince", linefile.BeforeTenure),
		row("stateSince: the second before a tenure that is a time", "+2348031000003,2019-03-04T08:00:00Z,,PARKED,2019-03-04T07:59:59Z", "stateSince", linefile.BeforeTenure),
		row("stateSince: the day before a tenure that is a time", "+2348031000003,2019-03-04T08:00:00Z,,QUARANTINED,2019-03-03", "stateSince", linefile.BeforeTenure),
		row("stateSince: unknown", "+2348031000003,2019-03-04,,PARKED,UNKNOWN", "stateSince", linefile.BadFormat),
		row("stateSince: no date", "+2348031000003,2019-03-04,,PARKED,soon", "stateSince", linefile.BadFormat),
		row("stateSince: future", "+2348031000003,2019-03-04,,PENDING_CHURN,2026-11-14", "stateSince", linefile.Future),
		row("stateSince: too old", "+2348031000003,1990-01-01,,PARKED,1980-01-01", "stateSince", linefile.OutOfRange),
		row("simChangedAt: before the tenure", "+2348031000003,2019-03-04,2019-03-03T12:00:00Z,ACTIVE,", "simChangedAt", linefile.BeforeTenure),
		row("simChangedAt: the day before the tenure", "+2348031000003,2019-03-04,2019-03-03,ACTIVE,", "simChangedAt", linefile.BeforeTenure),
		row("simChangedAt: the second before a tenure that is a time", "+2348031000003,2019-03-04T08:00:00Z,2019-03-04T07:59:59Z,ACTIVE,", "simChangedAt", linefile.BeforeTenure),
		row("simChangedAt: unknown in small letters", "+2348031000003,2019-03-04,unknown,ACTIVE,", "simChangedAt", linefile.BadFormat),
		row("simChangedAt: space before never", "+2348031000003,2019-03-04, NEVER,ACTIVE,", "simChangedAt", linefile.BadFormat),
		row("simChangedAt: the day after asOf", "+2348031000003,2019-03-04,2026-11-01,ACTIVE,", "simChangedAt", linefile.Future),
		row("simChangedAt: no date", "+2348031000003,2019-03-04,never,ACTIVE,", "simChangedAt", linefile.BadFormat),
		row("simChangedAt: day first", "+2348031000003,2019-03-04,04/03/2020,ACTIVE,", "simChangedAt", linefile.BadFormat),
		row("simChangedAt: future", "+2348031000003,2019-03-04,2026-10-31T00:00:01Z,ACTIVE,", "simChangedAt", linefile.Future),
		row("simChangedAt: too old", "+2348031000003,1990-01-01,1989-01-01,ACTIVE,", "simChangedAt", linefile.OutOfRange),
		row("columns exchanged: state and time", "+2348031000003,2019-03-04,ACTIVE,,", "simChangedAt", linefile.BadFormat),
		row("columns exchanged: number and time", "2019-03-04,+2348031000003,,ACTIVE,", "number", linefile.BadFormat),
		valid("times on their limits", snapshotHeader+"+2348031000001,1990-01-01,2026-10-31T00:00:00Z,PARKED,2026-10-31\n+2348031000002,2026-10-31,2026-10-31,BARRED,2026-10-31\n"),
		valid("unknown tenures", snapshotHeader+"+2348031000001,UNKNOWN,UNKNOWN,ACTIVE,\n+2348031000002,,1990-01-01,QUARANTINED,1990-01-01\n"),
		valid("SIM that never changed", snapshotHeader+"+2348031000001,2019-03-04,NEVER,ACTIVE,\n+2348031000002,UNKNOWN,\"NEVER\",PARKED,2026-10-01\n"),
		valid("everything on the day of the tenure", snapshotHeader+
			"+2348031000001,2019-03-04,2019-03-04T00:00:00Z,PARKED,2019-03-04T08:00:00Z\n+2348031000002,2019-03-04T08:00:00Z,2019-03-04,QUARANTINED,2019-03-04\n"),
		valid("times with offsets and fractions", snapshotHeader+
			"+2348031000001,2019-03-04T01:00:00+01:00,2020-01-31T10:00:00.999999999Z,ACTIVE,\n+2348031000002,2019-03-04,,PARKED,2026-10-30T23:00:00-00:59\n"),
		valid("29 February of leap years", snapshotHeader+"+2348031000001,2000-02-29,,ACTIVE,\n+2348031000002,2024-02-29,,ACTIVE,\n"),
		valid("spellings of numbers", snapshotHeader+"0803 100 0001,2019-03-04,,ACTIVE,\n\"00234-(803) 1000002\",2019-03-04,,ACTIVE,\n"),
	}
}

// churnDates are wrong churn dates in a snapshot.
func churnDates() []Case {
	const header = "number,tenureStart,simChangedAt,state,stateSince,churnAt\n"
	of := func(name, middle, reason string) Case {
		c := row("churnAt: "+name, "", "churnAt", reason)
		c.Reader = text(header + "+2348031000001,2019-03-04,,ACTIVE,,\n" + middle + "\n+2348031000002,2019-03-04,,PENDING_CHURN,2026-10-20,2026-11-20\n")
		return c
	}
	kinds := []Case{
		of("no date", "+2348031000003,2019-03-04,,PENDING_CHURN,2026-10-20,soon", linefile.BadFormat),
		of("unknown", "+2348031000003,2019-03-04,,PENDING_CHURN,2026-10-20,UNKNOWN", linefile.BadFormat),
		of("in 2100", "+2348031000003,2019-03-04,,PENDING_CHURN,2026-10-20,2100-01-01", linefile.OutOfRange),
	}
	for _, state := range []string{"ACTIVE", "INACTIVE", "PARKED", "BARRED", "QUARANTINED"} {
		kinds = append(kinds, of("of a line that is "+state, "+2348031000003,2019-03-04,,"+state+",2026-10-20,2026-11-20", linefile.NotAllowed))
	}
	return append(kinds, valid("churn date and none", header+
		"+2348031000001,2019-03-04,,PENDING_CHURN,2026-10-20,2026-11-20T08:00:00Z\n+2348031000002,2019-03-04,,PENDING_CHURN,2026-10-20,\n"))
}
