package config_test

import (
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/server/config"
)

var update = flag.Bool("update", false, "rewrite docs/reference/configuration.md")

// The committed reference matches the code.
func TestReferenceIsFresh(t *testing.T) {
	t.Parallel()
	path := "../../../docs/reference/configuration.md"
	if *update {
		if err := os.WriteFile(path, []byte(config.Reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.Reference(), string(committed)); diff != "" {
		t.Errorf("run go test ./internal/server/config -update (-code +committed):\n%s", diff)
	}
}

// Every field of Config is a setting with our prefix, a row in the reference, a
// default or a text for its absence, and a sentence that describes it.
func TestEveryFieldIsDocumented(t *testing.T) {
	t.Parallel()
	rows := map[string][]string{}
	for line := range strings.Lines(config.Reference()) {
		if cells := strings.Split(strings.TrimSpace(line), " | "); len(cells) == 4 {
			rows[strings.Trim(cells[0], "|` ")] = cells
		}
	}
	for field := range reflect.TypeFor[config.Config]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("env"), ",")
		if !strings.HasPrefix(name, "LINEPROOF_") {
			t.Errorf("%s: the variable is called %q", field.Name, name)
			continue
		}
		row, ok := rows[name]
		if !ok {
			t.Errorf("%s has no row", name)
			continue
		}
		if row[1] == "" || row[2] == "" {
			t.Errorf("%s: type %q, default %q", name, row[1], row[2])
		}
		if text := strings.TrimSuffix(row[3], " |"); len(text) < 20 || !strings.HasSuffix(text, ".") {
			t.Errorf("%s is not described by a sentence: %q", name, text)
		}
	}
}
