package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// The packages of the programs: the one that is published by itself, too, and the demonstration.
const (
	mainPackage   = "./cmd/lineproof"
	nationPackage = "./cmd/lineproof-nation"
)

// cloneHead clones the commit of a checkout into dir. A release is made from a
// commit and not from a directory: Go records its version only in a clone, and
// neither files that nobody committed nor the path can get into it.
func cloneHead(ctx context.Context, root, dir string) error {
	changes, err := exec.CommandContext(ctx, "git", "-C", root, "status", "--porcelain").Output() //nolint:gosec // the caller names the checkout
	if err != nil {
		return fmt.Errorf("a release is made from a git checkout: %w", err)
	}
	if len(changes) > 0 {
		return fmt.Errorf("commit these changes first, or remove them; a release is made from a commit:\n%s", changes)
	}
	if out, err := exec.CommandContext(ctx, "git", "clone", "--quiet", "--local", root, dir).CombinedOutput(); err != nil { //nolint:gosec // the caller names the checkout
		return fmt.Errorf("clone the checkout: %w\n%s", err, out)
	}
	return nil
}

// goCommand runs the go command for Linux on arch in the checkout, without what
// the environment could change about the result, and returns what it printed.
func goCommand(ctx context.Context, root, arch string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // our own arguments
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s for %s: %w\n%s", args[0], arch, err, complaints.String())
	}
	return string(out), nil
}

// build compiles a program and returns what Go recorded in it, the version from
// the tag or commit included.
func build(ctx context.Context, root, arch, pkg, program string) (*debug.BuildInfo, error) {
	if _, err := goCommand(ctx, root, arch, "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", program, pkg); err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read what was recorded in %s: %w", program, err)
	}
	return info, nil
}

func newRelease(o Options, clone string, info *debug.BuildInfo) (*release, error) {
	r := &release{Options: o, clone: clone, version: info.Main.Version, goes: info.GoVersion}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			t, err := time.Parse(time.RFC3339, s.Value)
			if err != nil {
				return nil, fmt.Errorf("the time of the commit: %w", err)
			}
			r.time = t
		}
	}
	if r.time.IsZero() || !strings.HasPrefix(r.version, "v") {
		return nil, errors.New("go recorded neither a version nor a commit in the program")
	}
	if o.Version != "" && r.version != "v"+o.Version {
		return nil, fmt.Errorf("go recorded the version %s: v%s is the tag of another commit, or not one that a module of this path can have", r.version, o.Version)
	}
	return r, nil
}

// module is a module that is linked into the program.
type module struct {
	path, version, sum string
	dir                string
	packages           []string // the directories of its linked packages
	uses               []string // the paths of the modules that these import
}

// listedPackage is a package as go list prints it.
type listedPackage struct {
	ImportPath, Dir string
	Standard        bool
	Imports         []string
	Module          *struct {
		Path, Version, Sum, Dir string
		Main                    bool
	}
}

// linked returns the modules of the program on arch, the main module first and
// the others by their path.
func linked(ctx context.Context, root, arch string) ([]module, error) {
	out, err := goCommand(ctx, root, arch, "list", "-deps", "-json=ImportPath,Dir,Standard,Imports,Module", mainPackage)
	if err != nil {
		return nil, err
	}
	byPath, moduleOf := map[string]*module{}, map[string]string{}
	var packages []listedPackage
	for dec := json.NewDecoder(strings.NewReader(out)); ; {
		var p listedPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read what go list printed: %w", err)
		}
		if p.Standard || p.Module == nil {
			continue
		}
		m := byPath[p.Module.Path]
		if m == nil {
			m = &module{path: p.Module.Path, version: p.Module.Version, sum: p.Module.Sum, dir: p.Module.Dir}
			byPath[m.path] = m
		}
		m.packages = append(m.packages, p.Dir)
		moduleOf[p.ImportPath] = m.path
		packages = append(packages, p)
	}
	for _, p := range packages {
		m := byPath[p.Module.Path]
		for _, path := range p.Imports {
			if used := moduleOf[path]; used != "" && used != m.path && !slices.Contains(m.uses, used) {
				m.uses = append(m.uses, used)
			}
		}
	}
	var modules []module
	for _, m := range byPath {
		slices.Sort(m.uses)
		modules = append(modules, *m)
	}
	main := moduleOf[packages[len(packages)-1].ImportPath] // go list -deps prints what is imported first
	slices.SortFunc(modules, func(a, b module) int {
		if a.path == main || b.path == main {
			return boolOrder(b.path == main) - boolOrder(a.path == main)
		}
		return strings.Compare(a.path, b.path)
	})
	return modules, nil
}

func boolOrder(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sameModules fails unless the program was linked from exactly these modules.
func sameModules(modules []module, info *debug.BuildInfo) error {
	var listed, recorded []string
	for _, m := range modules[1:] {
		listed = append(listed, m.path+" "+m.version+" "+m.sum)
	}
	for _, d := range info.Deps {
		if d.Replace != nil {
			return fmt.Errorf("module %s is replaced: a release is built from published modules", d.Path)
		}
		recorded = append(recorded, d.Path+" "+d.Version+" "+d.Sum)
	}
	slices.Sort(listed)
	slices.Sort(recorded)
	if !slices.Equal(listed, recorded) {
		return fmt.Errorf("it was linked from other modules than go list names: %q, %q", recorded, listed)
	}
	return nil
}

// buildNation compiles the demonstration, which the packages have beside the program. Their licences
// and the bill of materials are those of the program, so it must be linked from modules of the program.
func buildNation(ctx context.Context, clone, arch, nation string, modules []module) error {
	info, err := build(ctx, clone, arch, nationPackage, nation)
	if err != nil {
		return err
	}
	for _, d := range info.Deps {
		if !slices.ContainsFunc(modules, func(m module) bool { return m.path == d.Path && m.version == d.Version }) {
			return fmt.Errorf("%s is linked from %s, which the program is not", nationPackage, d.Path)
		}
	}
	return nil
}
