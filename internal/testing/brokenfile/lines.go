package brokenfile

import (
	"maps"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/line/linefile"
)

func sorted(cells map[string]string) []string { return slices.Sorted(maps.Keys(cells)) }

// also adds a second refused line, after the first, to a case.
func also(c Case, reason string) Case {
	c.WantRefusals = append(c.WantRefusals, linefile.Refusal{Place: 4, Reason: reason})
	return c
}

// lines are lines that are wrong as a whole.
func lines() []Case {
	const fine = "+2348031000003,2019-03-04,,ACTIVE,"
	columns := func(name, middle string) Case { return row("line: "+name, middle, "", linefile.BadColumns) }
	quotes := func(name, middle string) Case { return row("line: "+name, middle, "", linefile.BadQuotes) }
	long := func(name, middle string) Case { return row("line: "+name, middle, "", linefile.TooLong) }
	return []Case{
		columns("column missing", "+2348031000003,2019-03-04,,ACTIVE"),
		columns("two columns missing", "+2348031000003,2019-03-04,"),
		columns("number only", "+2348031000003"),
		columns("trailing comma", fine+","),
		columns("trailing commas of a spreadsheet", fine+",,,,,,,,"),
		columns("column too many", fine+",MTN"),
		columns("leading comma", ","+fine),
		columns("4,000 commas", strings.Repeat(",", 4000)),
		columns("comma in a cell", "+2348031000003,2019-03-04T10:00:00,5Z,,ACTIVE,"),
		columns("semicolons", "+2348031000003;2019-03-04;;ACTIVE;"),
		columns("tabs", "+2348031000003\t2019-03-04\t\tACTIVE\t"),
		columns("spaces only", "    "),
		columns("one space", " "),
		columns("comment", "# from here on the lines of Lagos"),
		columns("rule", "-----------------------------"),
		columns("footer of a query", "(2 rows affected)"),
		columns("total", "Total,2"),
		columns("end of file of DOS", "\x1a"),
		columns("error message of a program", "java.lang.OutOfMemoryError: Java heap space"),
		columns("HTML in the middle", "<html><body>504 Gateway Timeout</body></html>"),
		columns("JSON in the middle", `{number: 1}`),
		columns("merge conflict", "<<<<<<< HEAD"),
		columns("whole line in quotes", `"`+fine+`"`),
		columns("two lines as one", fine+fine),
		quotes("quote that is not closed", `"+2348031000003,2019-03-04,,ACTIVE,`),
		quotes("quote that is not opened", `+2348031000003",2019-03-04,,ACTIVE,`),
		quotes("quote in the last cell", `+2348031000003,2019-03-04,,ACTIVE,"`),
		quotes("quote in the middle of a cell", `+2348031000003,2019-03-04,,ACT"IVE,`),
		quotes("text behind the closing quote", `"+2348031000003"x,2019-03-04,,ACTIVE,`),
		quotes("space behind the closing quote", `"+2348031000003" ,2019-03-04,,ACTIVE,`),
		quotes("space before the opening quote", ` "+2348031000003",2019-03-04,,ACTIVE,`),
		quotes("three quotes", `"""+2348031000003,2019-03-04,,ACTIVE,`),
		quotes("formula of a spreadsheet", `="08031000003",2019-03-04,,ACTIVE,`),
		quotes("3,999 quotes", strings.Repeat(`"`, 3999)),
		also(quotes("line break in quotes", "\"+234803\n1000003\",2019-03-04,,ACTIVE,"), linefile.BadQuotes),
		also(columns("line broken in two", "+2348031000003,2019-03-04,\n,ACTIVE,"), linefile.BadColumns),
		row("line: commas only", ",,,,", "number", linefile.Missing),
		row("line: empty quotes only", `"","","","",""`, "number", linefile.Missing),
		row("line: header again", strings.TrimSpace(snapshotHeader), "number", linefile.BadFormat),
		row("line: another file behind this one", "\ufeff"+strings.TrimSpace(snapshotHeader), "number", linefile.BadFormat),
		row("line: single quotes", "'+2348031000003','2019-03-04','','ACTIVE',''", "number", linefile.BadFormat),
		row("line: backslash before the quote", `"08031000003\",2019-03-04,,ACTIVE,`, "number", linefile.BadFormat),
		row("line: backslash before the comma", `+2348031000003\,2019-03-04,,ACTIVE,`, "number", linefile.BadFormat),
		row("line: two carriage returns", fine+"2020-01-01\r\r", "stateSince", linefile.BadFormat),
		row("line: carriage return in a cell", "+2348031000003,2019-03-04,,ACT\rIVE,", "state", linefile.NotAllowed),
		row("line: carriage return for the break", fine+"\r+2348031000004", "stateSince", linefile.BadFormat),
		row("line: form feed in front", "\f"+fine, "number", linefile.BadFormat),
		long("4,097 bytes", strings.Repeat("x", 4097)),
		long("4,097 bytes and CR", strings.Repeat("x", 4097)+"\r"),
		long("5,000 commas", strings.Repeat(",", 5000)),
		long("5,000 quotes", strings.Repeat(`"`, 5000)),
		long("valid row with spaces after it", fine+strings.Repeat(" ", 4096)),
		long("as long as the buffer", strings.Repeat("x", 128<<10)),
		long("one byte longer than the buffer", strings.Repeat("x", 128<<10+1)),
		long("1 MiB", strings.Repeat("x", 1<<20)),
		row("line: 4,096 bytes", strings.Repeat("x", 4096), "", linefile.BadColumns),
		last("cut off in the number", "+23480310", "", linefile.BadColumns),
		last("cut off in the tenure", "+2348031000003,2019-0", "", linefile.BadColumns),
		last("cut off in the state", "+2348031000003,2019-03-04,,ACT", "", linefile.BadColumns),
		last("cut off in the last cell", "+2348031000003,2019-03-04,,PARKED,2020-0", "stateSince", linefile.BadFormat),
		last("too long", strings.Repeat("x", 5000), "", linefile.TooLong),
	}
}

// last is a snapshot whose last line is wrong and has no line break.
func last(name, end, field, reason string) Case {
	c := row("last line: "+name, "", field, reason)
	c.Reader = text(snapshotHeader + good1 + good2 + end)
	c.WantRefusals[0].Place = 4
	return c
}

// encodings are lines that are not UTF-8.
func encodings() []Case {
	of := func(name, middle string) Case { return row("encoding: "+name, middle, "", linefile.BadEncoding) }
	const rest = ",2019-03-04,,ACTIVE,"
	return []Case{
		of("NUL in the number", "+234803\x001000003"+rest),
		of("NUL in the state", "+2348031000003,2019-03-04,,ACTIVE\x00,"),
		of("NUL at the end", "+2348031000003"+rest+"\x00"),
		of("only NULs", strings.Repeat("\x00", 64)),
		of("hole in a file that a disk lost", strings.Repeat("\x00", 4096)),
		of("Latin-1", "+2348031000003,2019-03-04,,R\xc9SILI\xc9,"),
		of("Windows-1252 dash", "0803\x961000003"+rest),
		of("UTF-16 in the middle", wide("+2348031000003"+rest, true)),
		of("overlong form", "+2348031000003\xc0\xaf"+rest),
		of("half of a surrogate pair", "\xed\xa0\x80"+rest),
		of("first byte of a character alone", "+2348031000003\xc3"+rest),
		of("last byte of a character alone", "\xa9"+rest),
		of("beyond Unicode", "\xf5\x80\x80\x80"+rest),
		of("compressed data in the middle", "\x1f\x8b\x08\x00\x00\x00\xff\xfe"+rest),
		of("not UTF-8, within a bad quote", `"+2348031000003`+"\xff"+rest),
		of("not UTF-8, with too few columns", "\xff\xfe,x"),
	}
}
