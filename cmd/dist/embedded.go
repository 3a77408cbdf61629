package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// embedded is a file of others that is embedded into the program, as the
// manifest.json beside it describes it.
type embedded struct {
	File, SHA256, Package, Version, Licence, LicenceFile string
	dir                                                  string
}

// embeddedFiles returns the files of others that are in a checkout.
func embeddedFiles(root string) (all []embedded, err error) {
	manifests, err := filesBelow(filepath.Join(root, "internal"), filepath.Join("assets", "manifest.json"))
	if err != nil {
		return nil, fmt.Errorf("look for embedded files: %w", err)
	}
	for _, path := range manifests {
		text, err := os.ReadFile(path) //nolint:gosec // a file of the checkout
		if err != nil {
			return nil, fmt.Errorf("read what is embedded: %w", err)
		}
		var files []embedded
		if err := json.Unmarshal(text, &files); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		for _, f := range files {
			f.dir = filepath.Dir(path)
			all = append(all, f)
		}
	}
	return all, nil
}

// filesBelow returns the files below a directory whose paths end with ending.
func filesBelow(dir, ending string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, string(filepath.Separator)+ending) {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
}

func (e embedded) component() component {
	return component{
		Ref: e.purl(), Type: "library", Name: e.Package, Version: e.Version, PURL: e.purl(),
		Hashes: []hash{{"SHA-256", e.SHA256}}, Licences: choices([]string{e.Licence}),
	}
}

func (e embedded) purl() string {
	return "pkg:npm/" + strings.Replace(e.Package, "@", "%40", 1) + "@" + e.Version
}
