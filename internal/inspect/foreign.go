package inspect

import (
	"bytes"
	"encoding/binary"
)

// A document may contain a file of another format: many programs search for the
// signature of their format anywhere in a file, or at its end. The signatures below
// are long enough, or confirmed by a further check, not to occur by chance in ten
// megabytes of compressed pixels.

// foreignSignature is a signature of another format and the refusal it leads to.
// Confirm, if set, checks the bytes from the signature on.
type foreignSignature struct {
	signature string
	refusal   *Refusal
	confirm   func(at []byte) bool
}

// anywhere are searched for in the whole file.
var anywhere = []foreignSignature{
	{"PK\x03\x04", Archive, isZipMember},
	{"PK\x05\x06", Archive, isZipEnd},
	{"PK\x06\x06\x2c\x00\x00\x00", Archive, nil},
	{"Rar!\x1a\x07", Archive, nil},
	{"7z\xbc\xaf\x27\x1c", Archive, nil},
	{"\xfd7zXZ\x00", Archive, nil},
	{"MSCF\x00\x00\x00\x00", Archive, nil},
	{"!<arch>\n", Archive, nil},
	{"\x7fELF", Polyglot, isELF},
	{"!This program cannot be run in DOS mode", Polyglot, nil},
}

// anywhereText are searched for in the whole file, ignoring case.
var anywhereText = []foreignSignature{
	{"<script", Polyglot, endsTag},
	{"</script", Polyglot, endsTag},
	{"<iframe", Polyglot, endsTag},
	{"<html", Polyglot, endsTag},
	{"<!doctype html", Polyglot, nil},
	{"<?php", Polyglot, nil},
	{"__halt_compiler", Polyglot, nil},
}

// inText are searched for, ignoring case, in the parts of a file that have text and
// not pixels. They are too short for the rest.
var inText = []foreignSignature{
	{"<svg", Polyglot, endsTag},
	{"<img", Polyglot, endsTag},
	{"<body", Polyglot, endsTag},
	{"<object", Polyglot, endsTag},
	{"<embed", Polyglot, endsTag},
	{"<!entity", Polyglot, nil},
	{"javascript:", Polyglot, nil},
	{"vbscript:", Polyglot, nil},
	{"eval(", Polyglot, nil},
	{"alert(", Polyglot, nil},
	{"onerror=", Polyglot, nil},
	{"onload=", Polyglot, nil},
	{"#!/bin/", Polyglot, nil},
	{"#!/usr/", Polyglot, nil},
	{"%pdf-", Polyglot, nil},
	{"\x1f\x8b\x08\x00", Archive, nil},
	{"mz\x90\x00\x03", Polyglot, nil},
}

// inPlainText are so short that they are searched for only in parts that are almost
// entirely text.
var inPlainText = []foreignSignature{
	{"*/=", Polyglot, nil},
	{"#!/", Polyglot, nil},
	{"<%@", Polyglot, nil},
	{"<?=", Polyglot, nil},
}

// inImages are searched for in the whole of an image. A PDF contains them for good
// reason: it is a PDF, and its fonts are PostScript.
var inImages = []foreignSignature{
	{"%PDF-1.", Polyglot, nil},
	{"%PDF-2.", Polyglot, nil},
	{"%!PS-Adobe", Polyglot, nil},
}

// atOffsets are signatures that count at one offset only.
var atOffsets = []struct {
	offset    int
	signature string
}{
	{257, "ustar"},
	{0x8001, "CD001"},
	{0x8801, "CD001"},
	{0x9001, "CD001"},
}

// findForeign searches a whole file for signatures of other formats.
func findForeign(data []byte) error {
	for _, a := range atOffsets {
		if len(data) > a.offset && bytes.HasPrefix(data[a.offset:], []byte(a.signature)) {
			return Archive
		}
	}
	if err := search(data, anywhere); err != nil {
		return err
	}
	return search(lower(data), anywhereText)
}

// findForeignInText searches a part of a file that has text, such as a comment, a
// title or camera data.
func findForeignInText(part []byte) error {
	if err := search(part, anywhere); err != nil {
		return err
	}
	low := lower(part)
	if err := search(low, anywhereText); err != nil {
		return err
	}
	if err := search(low, inText); err != nil || !isText(part) {
		return err
	}
	return search(low, inPlainText)
}

// isText reports whether at least nine bytes in ten are printable ASCII.
func isText(part []byte) bool {
	odd := 0
	for _, c := range part {
		if (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c > '~' {
			odd++
		}
	}
	return odd*10 <= len(part)
}

// findForeignInImage searches an image for signatures that no image has.
func findForeignInImage(data []byte) error { return search(data, inImages) }

func search(data []byte, signatures []foreignSignature) error {
	for _, s := range signatures {
		rest := data
		for {
			i := bytes.Index(rest, []byte(s.signature))
			if i < 0 {
				break
			}
			if s.confirm == nil || s.confirm(rest[i:]) {
				return s.refusal
			}
			rest = rest[i+1:]
		}
	}
	return nil
}

// lower converts ASCII letters to lower case and keeps every offset.
func lower(data []byte) []byte {
	low := bytes.Clone(data)
	for i, c := range low {
		if 'A' <= c && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	return low
}

// endsTag reports whether the name of a tag ends where the signature does.
func endsTag(at []byte) bool {
	name := bytes.IndexFunc(at[1:], func(r rune) bool { return (r < 'a' || r > 'z') && r != '/' })
	return name >= 0 && bytes.IndexByte([]byte(" \t\r\n\f>/"), at[1+name]) >= 0
}

// isZipMember reports whether the header of a member of a zip archive is
// plausible.
func isZipMember(at []byte) bool {
	if len(at) < 31 {
		return false
	}
	version, method, name := binary.LittleEndian.Uint16(at[4:]), binary.LittleEndian.Uint16(at[8:]), binary.LittleEndian.Uint16(at[26:])
	return version < 100 && method < 100 && name > 0 && name < 1024
}

// isZipEnd reports whether the end record of a zip archive is plausible: it is on
// one disk, with the whole directory.
func isZipEnd(at []byte) bool {
	if len(at) < 22 {
		return false
	}
	disk, here, all := binary.LittleEndian.Uint32(at[4:]), binary.LittleEndian.Uint16(at[8:]), binary.LittleEndian.Uint16(at[10:])
	return disk == 0 && here == all
}

// isELF reports whether the header of a Linux program is plausible.
func isELF(at []byte) bool {
	return len(at) >= 7 && (at[4] == 1 || at[4] == 2) && (at[5] == 1 || at[5] == 2) && at[6] == 1
}

// maxPadding is how many padding bytes may follow a file. Some writers fill up to a
// block.
const maxPadding = 4096

// checkTrailing checks the bytes after the end of a document: a little padding is
// harmless.
func checkTrailing(rest []byte) error {
	if len(rest) <= maxPadding && len(bytes.Trim(rest, "\x00\t\n\f\r ")) == 0 {
		return nil
	}
	if err := findForeignInText(rest); err != nil {
		return err // this refusal is more specific
	}
	return Polyglot
}
