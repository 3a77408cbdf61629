package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
)

// bom is a bill of materials in CycloneDX 1.6.
type bom struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     bomMetadata  `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type bomMetadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Ref        string           `json:"bom-ref"`
	Type       string           `json:"type"`
	Name       string           `json:"name"`
	Version    string           `json:"version"`
	Hashes     []hash           `json:"hashes,omitempty"`
	Licences   []licenceChoice  `json:"licenses"`
	PURL       string           `json:"purl"`
	Properties []pairOfProperty `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licenceChoice struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

type pairOfProperty struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// newBOM lists what is in a program with these bytes: modules, the standard library,
// for whose version scanners look, and embedded files.
func (r *release) newBOM(program []byte, modules []module) (bom, error) {
	files, err := embeddedFiles(r.clone)
	if err != nil {
		return bom{}, err
	}
	sum := sha256.Sum256(program)
	main := modules[0]
	main.version = r.version
	std := module{path: "std", version: strings.TrimPrefix(r.goes, "go")}
	b := bom{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Serial:   uuid.NewHash(sha256.New(), uuid.NameSpaceURL, sum[:], 8).URN(), // of this program, and the same each time
		Metadata: bomMetadata{Timestamp: r.time.UTC().Format(time.RFC3339)},
	}
	refs := map[string]string{main.path: purl(main)}
	for _, m := range modules[1:] {
		refs[m.path] = purl(m)
	}
	for i, m := range append([]module{main, std}, modules[1:]...) {
		licences := []string{"BSD-3-Clause"}
		if m.dir != "" {
			if licences, err = m.licences(); err != nil {
				return bom{}, err
			}
		}
		c := component{Ref: purl(m), Type: "library", Name: m.path, Version: m.version, PURL: purl(m), Licences: choices(licences)}
		if m.sum != "" {
			c.Properties = []pairOfProperty{{"go:sum", m.sum}}
		}
		if i == 0 {
			c.Type, c.Hashes = "application", []hash{{"SHA-256", hex.EncodeToString(sum[:])}}
			b.Metadata.Component = c
		} else {
			b.Components = append(b.Components, c)
		}
		d := dependency{Ref: c.Ref}
		if m.path != std.path {
			d.DependsOn = append(d.DependsOn, purl(std))
		}
		for _, used := range m.uses {
			d.DependsOn = append(d.DependsOn, refs[used])
		}
		b.Dependencies = append(b.Dependencies, d)
	}
	for _, f := range files {
		b.Components = append(b.Components, f.component())
		b.Dependencies[0].DependsOn = append(b.Dependencies[0].DependsOn, f.purl())
		b.Dependencies = append(b.Dependencies, dependency{Ref: f.purl()})
	}
	return b, nil
}

func choices(ids []string) []licenceChoice {
	all := make([]licenceChoice, len(ids))
	for i, id := range ids {
		all[i].Licence.ID = id
	}
	return all
}

// purl returns the package URL of a module, whose path is in small letters there.
func purl(m module) string {
	return "pkg:golang/" + strings.ToLower(m.path) + "@" + strings.ReplaceAll(m.version, "+", "%2B")
}

// writeBOM writes the bill of materials beside the program.
func (r *release) writeBOM(program string, modules []module) error {
	text, err := os.ReadFile(program) //nolint:gosec // it was just built
	if err != nil {
		return fmt.Errorf("read the program: %w", err)
	}
	b, err := r.newBOM(text, modules)
	if err != nil {
		return err
	}
	out, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return fmt.Errorf("write the bill of materials: %w", err)
	}
	return writePublic(program+".cdx.json", append(out, '\n'))
}
