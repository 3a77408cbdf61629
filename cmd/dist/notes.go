package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
)

// notesFile has what the changelog says about a release.
const notesFile = "NOTES.md"

// head is the head of a section of the changelog; a version has a date.
var head = regexp.MustCompile(`(?m)^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?$`)

// Notes returns the section of a version in a changelog. It must be the newest, and
// everything that is new must be in it.
func Notes(changelog, version string) (string, error) {
	sections := head.FindAllStringSubmatchIndex(changelog, -1)
	at := func(i, group int) string {
		if sections[i][2*group] < 0 {
			return ""
		}
		return changelog[sections[i][2*group]:sections[i][2*group+1]]
	}
	text := func(i int) string {
		end := len(changelog)
		if i+1 < len(sections) {
			end = sections[i+1][0]
		} else if links := strings.Index(changelog, "\n["); links > sections[i][1] {
			end = links
		}
		return strings.TrimSpace(changelog[sections[i][1]:end])
	}
	switch {
	case len(sections) < 2 || at(0, 1) != "Unreleased":
		return "", errors.New("the changelog must begin with the sections Unreleased and " + version)
	case text(0) != "":
		return "", errors.New("the section Unreleased of the changelog is not empty: move what it has into " + version)
	case at(1, 1) != version:
		return "", fmt.Errorf("the newest version in the changelog is %s, not %s", at(1, 1), version)
	case at(1, 2) == "":
		return "", fmt.Errorf("version %s has no date in the changelog, such as ## [%s] - 2026-12-01", version, version)
	case text(1) == "":
		return "", fmt.Errorf("the changelog says nothing about version %s", version)
	}
	return text(1), nil
}

// rehearse tags the clone as the release will be tagged, so that the bytes are those of
// the release, and writes its notes.
func rehearse(ctx context.Context, clone, out, version string) error {
	tag := "v" + version
	if !semver.IsValid(tag) || semver.Canonical(tag) != tag {
		return fmt.Errorf("%s is not a version such as 0.1.0", version)
	}
	tags, err := exec.CommandContext(ctx, "git", "-C", clone, "tag", "--list", "v*").Output() //nolint:gosec // our own clone
	if err != nil {
		return fmt.Errorf("list the releases: %w", err)
	}
	known := false
	for t := range strings.FieldsSeq(string(tags)) {
		known = known || t == tag
		if t != tag && semver.Compare(t, tag) > 0 {
			return fmt.Errorf("%s was released after %s", t, tag)
		}
	}
	changelog, err := os.ReadFile(filepath.Join(clone, "CHANGELOG.md")) //nolint:gosec // our own clone
	if err != nil {
		return fmt.Errorf("read the changelog: %w", err)
	}
	notes, err := Notes(string(changelog), version)
	if err != nil {
		return err
	}
	if !known { // a tag that exists must be at this commit, or go records another version
		if text, err := exec.CommandContext(ctx, "git", "-C", clone, "tag", tag).CombinedOutput(); err != nil { //nolint:gosec // our own clone
			return fmt.Errorf("tag the clone: %w\n%s", err, text)
		}
	}
	return writePublic(filepath.Join(out, notesFile), []byte(notes+"\n"))
}
