package brokenfile

import (
	"strings"
	"unicode/utf16"

	"github.com/lineproof/lineproof/internal/line/linefile"
)

// contents are files that are not CSV, or are empty.
func contents() []Case {
	snapshot := snapshotHeader + good1 + good2
	kinds := []Case{
		refused("empty file", ""),
		refused("one line break", "\n"),
		refused("only line breaks", "\n\n\n\n"),
		refused("only spaces", "        "),
		refused("only a byte order mark", "\ufeff"),
		refused("only a quote", `"`),
		refused("only commas", ",,,,\n"),
		refused("one NUL", "\x00"),
		refused("only NULs", strings.Repeat("\x00", 5000)),
		refused("bytes without sense", "\x9c\x02\x81\xfe\x17\xa0\x44\xd1\x0b\xc3\x99\x12"),
		refused("first byte of a gzip", "\x1f"),
		refused("ZIP archive", "PK\x03\x04\x14\x00\x08\x00\x08\x00"+snapshot),
		refused("spreadsheet, xlsx", "PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00[Content_Types].xml"),
		refused("empty ZIP archive", "PK\x05\x06"+strings.Repeat("\x00", 18)),
		refused("spreadsheet, xls", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"+strings.Repeat("\x00", 504)),
		refused("PDF", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"),
		refused("Parquet", "PAR1\x15\x04\x15\x10"),
		refused("ORC", "ORC\x0a\x00"),
		refused("Avro", "Obj\x01\x04\x16avro.schema"),
		refused("SQLite", "SQLite format 3\x00"),
		refused("bzip2", "BZh91AY&SY"),
		refused("xz", "\xfd7zXZ\x00\x00\x04"),
		refused("7z", "7z\xbc\xaf\x27\x1c\x00\x04"),
		refused("RAR", "Rar!\x1a\x07\x01\x00"),
		refused("lz4", "\x04\x22\x4d\x18\x64\x40"),
		refused("compress", "\x1f\x9d\x90"),
		refused("tar", "lines.csv"+strings.Repeat("\x00", 248)+"ustar\x0000"+strings.Repeat("\x00", 247)+snapshot),
		refused("PNG", "\x89PNG\r\n\x1a\n"),
		refused("JPEG", "\xff\xd8\xff\xe0\x00\x10JFIF"),
		refused("GIF", "GIF89a\x01\x00"),
		refused("program", "\x7fELF\x02\x01\x01"),
		refused("PGP message", "-----BEGIN PGP MESSAGE-----\n\nhQEMA\n"),
		refused("HTML", "<!DOCTYPE html>\n<html><body>Log in</body></html>\n"),
		refused("HTML behind line breaks", "\n\n  <html><body>502 Bad Gateway</body></html>"),
		refused("XML behind a byte order mark", "\ufeff<?xml version=\"1.0\"?><lines/>"),
		refused("JSON object", `{"lines":[{"number":"+2348031000001"}]}`),
		refused("JSON array", `[{"number":"+2348031000001","state":"ACTIVE"}]`),
		refused("JSON lines", "{\"number\":\"+2348031000001\"}\n{\"number\":\"+2348031000002\"}\n"),
		refused("SQL", "INSERT INTO lines VALUES ('+2348031000001', 'ACTIVE');\n"),
		refused("YAML", "- number: +2348031000001\n  state: ACTIVE\n"),
		refused("prose", "Dear colleague,\n\nplease find the lines attached.\n"),
		refused("UTF-16LE with mark", "\xff\xfe"+wide(snapshot, false)),
		refused("UTF-16BE with mark", "\xfe\xff"+wide(snapshot, true)),
		refused("UTF-16LE without mark", wide(snapshot, false)),
		refused("UTF-16BE without mark", wide(snapshot, true)),
		refused("UTF-32LE", "\xff\xfe\x00\x00"+strings.ReplaceAll(wide("number", false), "\x00", "\x00\x00\x00")),
		refused("UTF-32BE", "\x00\x00\xfe\xff"+strings.ReplaceAll(wide("number", true), "\x00", "\x00\x00\x00")),
		refused("UTF-7", "+/v8-number,tenureStart,simChangedAt,state,stateSince\n"),
		refused("EBCDIC", "\x95\xa4\x94\x82\x85\x99\x6b\xa3\x85\x95\xa4\x99\x85\x25"),
		refused("carriage returns only", strings.ReplaceAll(snapshot, "\n", "\r")),
		refused("carriage returns only, long", snapshotHeader[:len(snapshotHeader)-1]+"\r"+strings.Repeat(strings.ReplaceAll(good1, "\n", "\r"), 1000)),
		refused("line separators of Unicode", strings.ReplaceAll(snapshot, "\n", "\u2028")),
		refused("next-line characters", strings.ReplaceAll(snapshot, "\n", "\u0085")),
		refused("line breaks lost", strings.ReplaceAll(snapshot, "\n", "")),
		refused("line breaks written out", strings.ReplaceAll(snapshot, "\n", `\n`)),

		valid("byte order mark", "\ufeff"+snapshot),
		valid("CR and LF", strings.ReplaceAll(snapshot, "\n", "\r\n")),
		valid("byte order mark, CR and LF", "\ufeff"+strings.ReplaceAll(snapshot, "\n", "\r\n")),
		valid("mixed line breaks", snapshotHeader+strings.ReplaceAll(good1, "\n", "\r\n")+good2),
		valid("no break at the end", strings.TrimSuffix(snapshot, "\n")),
		valid("carriage return at the end", strings.TrimSuffix(snapshot, "\n")+"\r"),
		valid("empty lines at the end", snapshot+"\n\n\n"),
		valid("empty lines between", snapshotHeader+"\n"+good1+"\r\n\n"+good2),
		valid("all cells in quotes", allQuoted(snapshot)),
	}
	nothing := valid("only the header: nothing to report", snapshotHeader)
	nothing.WantRows = 0
	unbroken := valid("only the header, without a break", strings.TrimSuffix(snapshotHeader, "\n"))
	unbroken.WantRows = 0
	quiet := Case{Name: "only the header of events: nothing to report", Kind: linefile.Events, Reader: text(eventHeader)}
	return append(kinds, nothing, unbroken, quiet)
}

// wide encodes s in UTF-16.
func wide(s string, bigEndian bool) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		high, low := byte(unit>>8), byte(unit&0xff)
		if bigEndian {
			b.Write([]byte{high, low})
		} else {
			b.Write([]byte{low, high})
		}
	}
	return b.String()
}

// allQuoted puts every cell in quotes.
func allQuoted(s string) string {
	s = strings.ReplaceAll(strings.TrimSuffix(s, "\n"), ",", `","`)
	return `"` + strings.ReplaceAll(s, "\n", "\"\n\"") + "\"\n"
}
