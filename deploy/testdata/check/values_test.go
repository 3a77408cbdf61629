package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/server/config"
)

// The schema of the values refuses mistakes before anything is rendered, and names the value.
func TestWrongValuesAreRefused(t *testing.T) {
	t.Parallel()
	if out, err := template(t, minimal); err != nil {
		t.Fatalf("without a mistake: %v: %s", err, out)
	}
	for _, wrong := range []struct{ set, names string }{
		{`settings.LINEPROOF_DATABASE_URL="postgres://user:password@db/lineproof"`, "LINEPROOF_DATABASE_URL"}, // a secret
		{`settings.LINEPROOF_PEPPERS="0123456789012345678901234567890123456789"`, "LINEPROOF_PEPPERS"},        // a secret
		{`settings.LINEPROOF_LOG_LEVL="debug"`, "LINEPROOF_LOG_LEVL"},                                         // misspelt
		{`settings.LINEPROOF_LOG_LEVEL="verbose"`, "LINEPROOF_LOG_LEVEL"},                                     // not one of them
		{`settings.LINEPROOF_VERIFY_CONNS=1`, "LINEPROOF_VERIFY_CONNS"},                                       // too few
		{`settings.LINEPROOF_KEY_RATE="fast"`, "LINEPROOF_KEY_RATE"},                                          // no number
		{`settings.LINEPROOF_TOKEN_LIFETIME="1 hour"`, "LINEPROOF_TOKEN_LIFETIME"},                            // no duration
		{`settings.LINEPROOF_LISTEN=":9000"`, "LINEPROOF_LISTEN"},                                             // set by the chart
		{`secret.settings=["LINEPROOF_DATABASE_URL"]`, "secret"},                                              // without the pepper
		{`secret.settings=["LINEPROOF_DATABASE_URL","LINEPROOF_PEPPERS","LINEPROOF_REGION"]`, "secret"},       // no secret
		{`replicaCount=0`, "replicaCount"},
		{`replicas=3`, "replicas"},
		{`image.repository="lineproof:0.1.0"`, "repository"},
		{`image.tag="latest"`, "tag"},
		{`image.digest="sha256:abc"`, "digest"},
		{`trustedProxies=["0.0.0.0/0"]`, "trustedProxies"}, // trusts everybody
		{`trustedProxies=["10.0.0.1"]`, "trustedProxies"},
		{`drain.delaySeconds=0`, "delaySeconds"}, // requests would fail
		{`networkPolicy.privateFrom=[{}]`, "privateFrom"},
		{`service.type="ExternalName"`, "service"},
		{`data.sizeLimit="big"`, "sizeLimit"},
	} {
		out, err := template(t, minimal, wrong.set)
		if err == nil || !strings.Contains(out, "values don't meet the specifications of the schema") || !strings.Contains(out, wrong.names) {
			t.Errorf("%s: %v: %s", wrong.set, err, out)
		}
	}
}

// The values of the how-to render, and the program accepts the settings.
func TestValuesOfThePageWork(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/how-to/run-in-kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	values, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the page has no values")
	}
	path := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(path, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	m := render(t, path)
	for name, pod := range m.pods() {
		if _, err := config.Load(t.Context(), environ(t, m, pod)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(m.ingress.Spec.Rules) != 1 {
		t.Error("there is no ingress")
	}
}
