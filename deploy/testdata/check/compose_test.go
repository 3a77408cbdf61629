package check_test

import (
	"os"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// The compose file keeps to the specification: the reader of docker compose accepts it, with the
// schema, the references between its parts, and the variables that ./prepare writes.
func TestComposeFileKeepsToTheSpecification(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../compose/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	project, err := load(t, string(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := project.Services["lineproof"].Image; got != "localhost/lineproof:0.1.0" {
		t.Errorf("the image is %s", got)
	}
	for name, service := range project.Services {
		for _, secret := range service.Secrets {
			if _, known := project.Secrets[secret.Source]; !known {
				t.Errorf("%s: the secret %s is not known", name, secret.Source)
			}
		}
	}
}

func load(t *testing.T, text string) (*types.Project, error) {
	t.Helper()
	return loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  t.TempDir(),
		ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: []byte(text)}},
		Environment: types.Mapping{"LINEPROOF_UID": "1000", "LINEPROOF_GID": "1000", "LINEPROOF_VERSION": "0.1.0"},
	})
}

// The check finds mistakes.
func TestWrongComposeFilesAreFound(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"name: x\nservices: {a: {imag: b}}", "name: x\nservices: {a: {image: b, ports: {}}}", "name: x\nservices: {a: {image: b, depends_on: [c]}}",
		"name: x\nservices: {a: {image: b, secrets: [c]}}", "name: x\nservices: {a: {image: \"${NOBODY:?sets it}\"}}",
		"name: x\nservices: {a: {image: b, healthcheck: {interval: often}}}",
	} {
		if _, err := load(t, text); err == nil {
			t.Errorf("accepted: %s", text)
		}
	}
}
