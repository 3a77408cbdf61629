package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lineproof/lineproof/internal/cli"
)

const root = "../.."

var someday = time.Date(2026, 11, 17, 9, 30, 0, 0, time.UTC)

// The manual describes every command, and groff finds nothing to complain of.
func TestManualDescribesEveryCommand(t *testing.T) {
	t.Parallel()

	pages := Manual(cli.Root(), "0.1.0", someday)
	all := strings.Join(slices.Collect(maps.Values(pages)), "\n")
	for _, cmd := range runnableOf(cli.Root()) {
		if !strings.Contains(all, "\n.B "+dashes(cmd.UseLine())+"\n") {
			t.Errorf("no page has %s", cmd.UseLine())
		}
	}
	if _, err := exec.LookPath("groff"); err != nil && os.Getenv("CI") == "" {
		t.Skip("needs groff")
	}
	for name, text := range pages {
		cmd := exec.CommandContext(t.Context(), "groff", "-man", "-ww", "-z", "-K", "utf8", "-T", "utf8", "-rLL=200n")
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// Debian and Red Hat sort what comes before a release before it.
func TestPackageVersion(t *testing.T) {
	t.Parallel()

	for version, want := range map[string]string{
		"v0.1.0":                                 "0.1.0",
		"v0.1.0-rc.1":                            "0.1.0~rc.1",
		"v0.1.1-0.20261117093000-279477c1abcd":   "0.1.1~0.20261117093000.279477c1abcd",
		"v0.0.0-20261117093000-279477c1abcd":     "0.0.0~20261117093000.279477c1abcd",
		"v0.1.1-0.20261117093000-279477c1+dirty": "0.1.1~0.20261117093000.279477c1+dirty",
	} {
		if got := PackageVersion(version); got != want {
			t.Errorf("%s became %s, not %s", version, got, want)
		}
	}
}

func linkedHere(t *testing.T) []module {
	t.Helper()
	modules, err := linked(t.Context(), root, "amd64")
	if err != nil {
		t.Fatal(err)
	}
	return modules
}

// Every module that is linked into the program has a licence that is allowed, and that of a
// direct dependency is the one that docs/dependencies.md names.
func TestLicencesAreAllowed(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile(filepath.Join(root, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## In the program\n")
	section, _, _ = strings.Cut(section, "\n## ")
	documented := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*\\| ([^|]+) \\|$").FindAllStringSubmatch(section, -1) {
		ids := strings.Split(m[2], ", ")
		slices.Sort(ids)
		documented[m[1]] = strings.Join(ids, ", ")
	}
	for _, m := range linkedHere(t) {
		ids, err := m.licences()
		if err != nil {
			t.Error(err)
		}
		if want, ok := documented[m.path]; ok && strings.Join(ids, ", ") != want {
			t.Errorf("%s is under %q, and the page says %q", m.path, ids, want)
		}
	}
}

// A licence that is not allowed, and a module without one, stop a release.
func TestOtherLicencesStopARelease(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"GNU GENERAL PUBLIC LICENSE\n Version 3":                                                 "is under GPL",
		"GNU Affero\nGeneral Public License":                                                     "is under AGPL",
		"Business Source License 1.1":                                                            "is under BUSL-1.1",
		"Mozilla Public License Version 2.0 … GNU General Public License":                        "",
		"All rights reserved.":                                                                   "no licence that is known",
		"/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */ GNU General Public License": "",
		"/* SPDX-License-Identifier: GPL-2.0-only OR GPL-3.0-only */ GNU General Public License": "is under GPL",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := module{path: "example.com/m", dir: dir}.licences()
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The bill of materials is valid CycloneDX 1.6, by the schema that CycloneDX publishes, and
// names what is linked and embedded.
func TestBillOfMaterialsIsValid(t *testing.T) {
	t.Parallel()

	modules := linkedHere(t)
	r := &release{clone: root, version: "v0.1.0", time: someday, goes: "go1.27.3"}
	b, err := r.newBOM([]byte("the program"), modules)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	schema := compileSchema(t)
	if err := validate(t, schema, string(text)); err != nil {
		t.Error(err)
	}
	if err := validate(t, schema, strings.Replace(string(text), `"type":"library"`, `"type":"module"`, 1)); err == nil {
		t.Error("a type that does not exist is valid")
	}
	var got []string
	for _, c := range b.Components {
		got = append(got, c.Name)
	}
	want := []string{"std"}
	for _, m := range modules[1:] {
		want = append(want, m.path)
	}
	if diff := cmp.Diff(append(want, "@scalar/api-reference", "htmx.org"), got); diff != "" {
		t.Errorf("(-linked +listed):\n%s", diff)
	}
	again, err := r.newBOM([]byte("the program"), linkedHere(t))
	if diff := cmp.Diff(b, again); diff != "" || err != nil {
		t.Errorf("a second one differs: %v\n%s", err, diff)
	}
}

// compileSchema reads the schema from the module that testdata/schema pins.
func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "mod", "download", "-C", "testdata/schema", "-json", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatalf("go mod download: %v", err)
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	for name, file := range map[string]string{"bom-1.6": "bom-1.6.schema.json", "spdx": "spdx.schema.json", "jsf-0.82": "jsf-0.82.schemax.json"} {
		f, err := os.Open(filepath.Join(downloaded.Dir, "schema", file))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		document, err := jsonschema.UnmarshalJSON(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource("http://cyclonedx.org/schema/"+name+".schema.json", document); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(t *testing.T, schema *jsonschema.Schema, text string) error {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(value)
}
