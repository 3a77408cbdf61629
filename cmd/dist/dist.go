package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options say what a release is made from and where it goes.
type Options struct {
	Root       string   // the checkout, in which everything is committed
	Out        string   // the directory of the release; it is emptied first
	For        []string // the machines that it is built for, by Go's names
	Nfpm       string   // the program that makes packages
	Version    string   // of the release, such as 0.1.0; empty for what the commit is
	SigningKey string   // an SSH key that signs the checksums; empty for none
	Log        io.Writer
}

// release is the data that every part of a release shares.
type release struct {
	Options
	clone   string    // what was committed
	version string    // as Go records it, such as v0.1.0
	time    time.Time // of the commit
	goes    string    // the version of Go, such as go1.27.3
}

// Program returns the name of the program for an architecture in a release.
func Program(arch string) string { return "lineproof-linux-" + arch }

// Make makes the release.
func Make(ctx context.Context, o Options) error {
	for _, path := range []*string{&o.Out, &o.Nfpm} { // commands run in another directory
		var err error
		if *path, err = filepath.Abs(*path); err != nil {
			return fmt.Errorf("find %s: %w", *path, err)
		}
	}
	if err := prepare(o.Out); err != nil {
		return fmt.Errorf("prepare %s: %w", o.Out, err)
	}
	stage, err := os.MkdirTemp("", "lineproof-dist-")
	if err != nil {
		return fmt.Errorf("make a directory for what is generated: %w", err)
	}
	defer os.RemoveAll(stage)
	clone := filepath.Join(stage, "clone")
	if err := cloneHead(ctx, o.Root, clone); err != nil {
		return err
	}
	if o.Version != "" {
		if err := rehearse(ctx, clone, o.Out, o.Version); err != nil {
			return err
		}
	}

	var r *release
	for _, arch := range o.For {
		program := filepath.Join(o.Out, Program(arch))
		info, err := build(ctx, clone, arch, mainPackage, program)
		if err != nil {
			return err
		}
		if r, err = newRelease(o, clone, info); err != nil {
			return err
		}
		modules, err := linked(ctx, clone, arch)
		if err != nil {
			return err
		}
		if err := sameModules(modules, info); err != nil {
			return fmt.Errorf("%s: %w", program, err)
		}
		if err := buildNation(ctx, clone, arch, filepath.Join(stage, "lineproof-nation"), modules); err != nil {
			return fmt.Errorf("%s: %w", arch, err)
		}
		if err := r.writeBOM(program, modules); err != nil {
			return err
		}
		if err := r.stage(stage, program, modules); err != nil {
			return err
		}
		if err := r.packages(ctx, stage, arch); err != nil {
			return err
		}
	}
	if err := writeSums(o.Out); err != nil {
		return err
	}
	if o.SigningKey == "" {
		fmt.Fprintln(o.Log, "SHA256SUMS is not signed: name a key to sign it")
	} else if err := Sign(ctx, filepath.Join(o.Out, sumsFile), o.SigningKey); err != nil {
		return err
	}
	fmt.Fprintf(o.Log, "%s in %s\n", r.version, o.Out)
	return nil
}

// prepare makes the directory of a release and removes an earlier one. An image that is there stays,
// and gets a checksum.
func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // what is published may be read by everybody
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".oci.tar") {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// PackageVersion turns a version of Go into one that Debian and Red Hat sort in
// the same order: what comes before a release has a tilde instead of a hyphen.
func PackageVersion(version string) string {
	version, dirty := strings.CutSuffix(strings.TrimPrefix(version, "v"), "+dirty")
	number, before, isBefore := strings.Cut(version, "-")
	if isBefore {
		number += "~" + strings.ReplaceAll(before, "-", ".")
	}
	if dirty {
		number += "+dirty"
	}
	return number
}
