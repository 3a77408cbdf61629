package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/lineproof/lineproof/internal/cli"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/cli/nation"
)

// stage writes into dir what the packages have in them and nobody wrote: the
// program, its manual, completion, and the licences of what is linked into it.
func (r *release) stage(dir, program string, modules []module) error {
	embedded, err := embeddedFiles(r.clone)
	if err != nil {
		return err
	}
	licences, err := thirdPartyLicences(modules, embedded)
	if err != nil {
		return err
	}
	changelog, err := os.ReadFile(filepath.Join(r.clone, "CHANGELOG.md"))
	if err != nil {
		return fmt.Errorf("read the changelog: %w", err)
	}
	text, err := os.ReadFile(program) //nolint:gosec // it was just built
	if err != nil {
		return fmt.Errorf("read the program: %w", err)
	}
	files := map[string][]byte{"lineproof": text, "changelog.gz": compressed(changelog), "third-party-licences.txt": licences}
	for name, page := range Manual(cli.Root(), PackageVersion(r.version), r.time) {
		files[filepath.Join("man", name+".gz")] = compressed([]byte(page))
	}
	nationPage := commandPage(nation.Command(console.New(console.Env{})), PackageVersion(r.version), r.time)
	files[filepath.Join("man", "lineproof-nation.1.gz")] = compressed([]byte(nationPage))
	var bash, zsh, fish bytes.Buffer
	root := cli.Root()
	if err := errors.Join(root.GenBashCompletionV2(&bash, true), root.GenZshCompletion(&zsh), root.GenFishCompletion(&fish, true)); err != nil {
		return fmt.Errorf("make the completion of shells: %w", err)
	}
	files["lineproof.bash"], files["_lineproof"], files["lineproof.fish"] = bash.Bytes(), zsh.Bytes(), fish.Bytes()

	if err := os.MkdirAll(filepath.Join(dir, "man"), 0o700); err != nil {
		return fmt.Errorf("make a directory for the manual: %w", err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil { // nfpm.yaml has the modes
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// compressed returns text as gzip, without a time, so that it is the same again.
func compressed(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, _ = w.Write(text)                                  // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// packages makes the deb and the rpm of what was staged.
func (r *release) packages(ctx context.Context, stage, arch string) error {
	version := PackageVersion(r.version)
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
	for kind, name := range map[string]string{"deb": "lineproof_" + version + "_" + arch + ".deb", "rpm": "lineproof-" + version + "-1." + machine + ".rpm"} {
		cmd := exec.CommandContext(ctx, r.Nfpm, "package", "--config", "deploy/package/nfpm.yaml", "--packager", kind, "--target", filepath.Join(r.Out, name)) //nolint:gosec // the caller names the program
		cmd.Dir = r.clone
		cmd.Env = append(os.Environ(), "VERSION="+version, "ARCH="+arch, "STAGE="+stage, "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.time.Unix(), 10))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("make %s: %w\n%s", name, err, out)
		}
	}
	return nil
}
