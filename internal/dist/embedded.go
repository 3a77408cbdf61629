package dist

import (
	"encoding/json"
	"errors"
	"fmt"
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
	near, err1 := filepath.Glob(filepath.Join(root, "internal", "*", "assets", "manifest.json"))
	far, err2 := filepath.Glob(filepath.Join(root, "internal", "*", "*", "assets", "manifest.json"))
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("look for embedded files: %w", err)
	}
	for _, path := range append(near, far...) {
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

func (e embedded) component() component {
	return component{
		Ref: e.purl(), Type: "library", Name: e.Package, Version: e.Version, PURL: e.purl(),
		Hashes: []hash{{"SHA-256", e.SHA256}}, Licences: choices([]string{e.Licence}),
	}
}

func (e embedded) purl() string {
	return "pkg:npm/" + strings.Replace(e.Package, "@", "%40", 1) + "@" + e.Version
}
