package inspect

import (
	"bytes"
	"encoding/binary"
)

// A stranger is a file of another kind inside a document: many programs look
// for their own beginning anywhere in a file, or at its end. The signatures
// below are long enough, or looked at closely enough, not to turn up by chance
// in ten megabytes of compressed pixels.

// stranger is a signature and what it gives away. Look, if set, decides on
// what stands at the signature.
type stranger struct {
	signature string
	is        *Refusal
	look      func(at []byte) bool
}

// anywhere are the strangers that are looked for in every byte of a file.
var anywhere = []stranger{
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

// anywhereText are looked for in every byte, in either case.
var anywhereText = []stranger{
	{"<script", Polyglot, endsTag},
	{"</script", Polyglot, endsTag},
	{"<iframe", Polyglot, endsTag},
	{"<html", Polyglot, endsTag},
	{"<!doctype html", Polyglot, nil},
	{"<?php", Polyglot, nil},
	{"__halt_compiler", Polyglot, nil},
}

// inText are looked for, in either case, in the parts of a file that hold words
// and not pixels. They are too short for the rest.
var inText = []stranger{
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

// inPlainText are so short that they are looked for only where nearly every
// byte is a letter.
var inPlainText = []stranger{
	{"*/=", Polyglot, nil},
	{"#!/", Polyglot, nil},
	{"<%@", Polyglot, nil},
	{"<?=", Polyglot, nil},
}

// inPictures are looked for in every byte of a picture. In a PDF they may stand
// for good reason: it is one, and its fonts are PostScript.
var inPictures = []stranger{
	{"%PDF-1.", Polyglot, nil},
	{"%PDF-2.", Polyglot, nil},
	{"%!PS-Adobe", Polyglot, nil},
}

// atOffsets are signatures that count at one place only.
var atOffsets = []struct {
	offset    int
	signature string
}{
	{257, "ustar"},
	{0x8001, "CD001"},
	{0x8801, "CD001"},
	{0x9001, "CD001"},
}

// lookForStrangers looks through a whole file.
func lookForStrangers(data []byte) error {
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

// lookInText looks through a part of a file that holds words: a comment, a
// title, the description of a camera.
func lookInText(part []byte) error {
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

// isText says whether at most one byte in ten is none of printable ASCII.
func isText(part []byte) bool {
	odd := 0
	for _, c := range part {
		if (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c > '~' {
			odd++
		}
	}
	return odd*10 <= len(part)
}

// lookInPicture looks for what has no place in a picture.
func lookInPicture(data []byte) error { return search(data, inPictures) }

func search(data []byte, strangers []stranger) error {
	for _, s := range strangers {
		rest := data
		for {
			i := bytes.Index(rest, []byte(s.signature))
			if i < 0 {
				break
			}
			if s.look == nil || s.look(rest[i:]) {
				return s.is
			}
			rest = rest[i+1:]
		}
	}
	return nil
}

// lower makes the capitals of ASCII small, and keeps every byte in its place.
func lower(data []byte) []byte {
	low := bytes.Clone(data)
	for i, c := range low {
		if 'A' <= c && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	return low
}

// endsTag says whether the name of a tag ends where the signature does.
func endsTag(at []byte) bool {
	name := bytes.IndexFunc(at[1:], func(r rune) bool { return (r < 'a' || r > 'z') && r != '/' })
	return name >= 0 && bytes.IndexByte([]byte(" \t\r\n\f>/"), at[1+name]) >= 0
}

// isZipMember says whether the head of a member of a zip archive makes sense.
func isZipMember(at []byte) bool {
	if len(at) < 31 {
		return false
	}
	version, method, name := binary.LittleEndian.Uint16(at[4:]), binary.LittleEndian.Uint16(at[8:]), binary.LittleEndian.Uint16(at[26:])
	return version < 100 && method < 100 && name > 0 && name < 1024
}

// isZipEnd says whether the end of a zip archive makes sense: it is on one
// disk, and the directory lies before it.
func isZipEnd(at []byte) bool {
	if len(at) < 22 {
		return false
	}
	disk, here, all := binary.LittleEndian.Uint32(at[4:]), binary.LittleEndian.Uint16(at[8:]), binary.LittleEndian.Uint16(at[10:])
	return disk == 0 && here == all
}

// isELF says whether the head of a program for Linux makes sense.
func isELF(at []byte) bool {
	return len(at) >= 7 && (at[4] == 1 || at[4] == 2) && (at[5] == 1 || at[5] == 2) && at[6] == 1
}

// maxPadding is how much nothing may follow a file. Some writers fill up to a
// block.
const maxPadding = 4096

// checkRest judges what stands behind the end of a document: a little nothing
// is no harm.
func checkRest(rest []byte) error {
	if len(rest) <= maxPadding && len(bytes.Trim(rest, "\x00\t\n\f\r ")) == 0 {
		return nil
	}
	if err := lookInText(rest); err != nil {
		return err // the name of the stranger says more
	}
	return Polyglot
}
