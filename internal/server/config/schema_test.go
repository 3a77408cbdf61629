package config_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/server/config"
)

// setByTheChart are the settings that the templates of the Helm chart set from other values.
var setByTheChart = []string{
	"LINEPROOF_LISTEN", "LINEPROOF_PRIVATE_LISTEN", "LINEPROOF_PRIVATE_REMOTE", "LINEPROOF_TLS_CERT", "LINEPROOF_TLS_KEY", "LINEPROOF_PLAIN_HTTP",
	"LINEPROOF_TRUSTED_PROXIES", "LINEPROOF_NODE", "LINEPROOF_DATA", "LINEPROOF_DRAIN_DELAY", "LINEPROOF_DRAIN_TIMEOUT",
}

// The schema of the chart's values accepts every setting that the chart does not set itself,
// and secrets only by name.
func TestReferenceOfTheChartIsFresh(t *testing.T) {
	t.Parallel()
	path := "../../../deploy/helm/lineproof/values.schema.json"
	committed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(committed, &schema); err != nil {
		t.Fatal(err)
	}
	plain, secrets := config.Schema()
	for _, name := range setByTheChart {
		if plain[name] == nil {
			t.Errorf("%s is no setting", name)
		}
		delete(plain, name)
	}
	set(schema, plain, "properties", "settings", "properties")
	set(schema, secrets, "properties", "secret", "properties", "settings", "items", "enum")
	var fresh bytes.Buffer
	encoder := json.NewEncoder(&fresh)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(schema); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, fresh.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(fresh.String(), string(committed)); diff != "" {
		t.Errorf("run go test ./internal/server/config -update (-code +committed):\n%s", diff)
	}
}

// set replaces a value inside a JSON object.
func set(object map[string]any, value any, path ...string) {
	for _, key := range path[:len(path)-1] {
		object, _ = object[key].(map[string]any)
	}
	object[path[len(path)-1]] = value
}
