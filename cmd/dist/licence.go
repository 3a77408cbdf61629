package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// allowedLicences are those that docs/dependencies.md allows without discussion.
var allowedLicences = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "Unlicense"}

// phrases name a licence by words that only its text has, in small letters.
var phrases = []struct{ id, phrase string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"Apache-2.0", "licensed under the apache license, version 2.0"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MPL-2.0", "mozilla public license, version 2.0"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
	{"CC0-1.0", "cc0 1.0 universal"},
	{"CC-BY-SA-4.0", "creative commons attribution-sharealike 4.0"},
	{"GPL", "gnu general public license"},
	{"LGPL", "gnu lesser general public license"},
	{"AGPL", "gnu affero general public license"},
	{"SSPL-1.0", "server side public license"},
	{"BUSL-1.1", "business source license"},
}

// choice finds a file that offers two licences, of which whoever uses it takes one.
var choice = regexp.MustCompile(`SPDX-License-Identifier: (\S+) OR (\S+)`)

// licencesIn returns the licences whose text is in a file, sorted; of two that it offers,
// the one that is allowed.
func licencesIn(text []byte) (ids []string) {
	if offered := choice.FindSubmatch(text); offered != nil {
		for _, id := range offered[1:] {
			if slices.Contains(allowedLicences, string(id)) {
				return []string{string(id)}
			}
		}
	}
	plain := strings.Join(strings.Fields(strings.ToLower(string(text))), " ")
	for _, p := range phrases {
		if strings.Contains(plain, p.phrase) {
			ids = append(ids, p.id)
		}
	}
	if strings.Contains(plain, "redistribution and use in source and binary forms") {
		if strings.Contains(plain, "endorse or promote products") {
			ids = append(ids, "BSD-3-Clause")
		} else {
			ids = append(ids, "BSD-2-Clause")
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if slices.Contains(ids, "MPL-2.0") { // its text names the licences that a work may be combined with
		ids = slices.DeleteFunc(ids, func(id string) bool { return strings.HasSuffix(id, "GPL") })
	}
	return ids
}

// licenceFile is a file of a module that says under which conditions it is given.
type licenceFile struct {
	path string
	text []byte
}

// licenceFiles returns the files about licences of what is linked from a module:
// in its directory, and in those between it and each package.
func (m module) licenceFiles() (files []licenceFile, err error) {
	dirs := map[string]bool{m.dir: true}
	for _, dir := range m.packages {
		for ; strings.HasPrefix(dir, m.dir) && !dirs[dir]; dir = filepath.Dir(dir) {
			dirs[dir] = true
		}
	}
	for dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("look for licences of %s: %w", m.path, err)
		}
		for _, e := range entries {
			name := strings.ToUpper(e.Name())
			isLicence := slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "UNLICENSE", "NOTICE", "PATENTS"}, func(word string) bool { return strings.HasPrefix(name, word) })
			if !isLicence || e.IsDir() || strings.HasSuffix(name, ".GO") {
				continue
			}
			path := filepath.Join(dir, e.Name())
			text, err := os.ReadFile(path) //nolint:gosec // a file of the module cache
			if err != nil {
				return nil, fmt.Errorf("read a licence of %s: %w", m.path, err)
			}
			files = append(files, licenceFile{path, text})
		}
	}
	slices.SortFunc(files, func(a, b licenceFile) int { return strings.Compare(a.path, b.path) })
	return files, nil
}

// licences returns the licences of a module, sorted. A module without one, or with
// one that is not allowed, is an error: it must not be published.
func (m module) licences() ([]string, error) {
	files, err := m.licenceFiles()
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, f := range files {
		ids = append(ids, licencesIn(f.text)...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return nil, fmt.Errorf("module %s has no licence that is known", m.path)
	}
	for _, id := range ids {
		if !slices.Contains(allowedLicences, id) {
			return nil, fmt.Errorf("module %s is under %s, which docs/dependencies.md does not allow", m.path, id)
		}
	}
	return ids, nil
}

// thirdPartyLicences returns the licences of all modules but our own, and of embedded
// files: most ask that whoever gets the program gets their text, too.
func thirdPartyLicences(modules []module, files []embedded) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("What is linked into lineproof, and under which conditions.\n")
	for _, m := range modules[1:] {
		ids, err := m.licences()
		if err != nil {
			return nil, err
		}
		files, err := m.licenceFiles()
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "\n%s\n%s %s: %s\n", strings.Repeat("=", 100), m.path, m.version, strings.Join(ids, ", "))
		for _, f := range files {
			fmt.Fprintf(&b, "\n%s\n\n%s\n", filepath.Base(f.path), bytes.TrimSpace(f.text))
		}
	}
	for _, f := range files {
		if !slices.Contains(allowedLicences, f.Licence) {
			return nil, fmt.Errorf("%s is under %s, which docs/dependencies.md does not allow", f.Package, f.Licence)
		}
		text, err := os.ReadFile(filepath.Join(f.dir, f.LicenceFile))
		if err != nil {
			return nil, fmt.Errorf("read the licence of %s: %w", f.Package, err)
		}
		fmt.Fprintf(&b, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("=", 100), f.Package, f.Version, f.Licence, bytes.TrimSpace(text))
	}
	return b.Bytes(), nil
}
