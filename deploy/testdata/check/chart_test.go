// Package check_test checks the Helm chart and the compose file with the parts that read them
// elsewhere: helm renders, and the types of Kubernetes and the schema of compose judge.
package check_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const (
	chart   = "../../helm/lineproof"
	minimal = "values/minimal.yaml" // only what has no default
	full    = "values/full.yaml"    // everything
)

// manifests are the objects that the chart renders, by kind.
type manifests struct {
	text       string
	deployment apps.Deployment
	job        batch.Job
	configMap  core.ConfigMap
	account    core.ServiceAccount
	services   []core.Service
	network    networking.NetworkPolicy
	ingress    networking.Ingress
	budget     policy.PodDisruptionBudget
	monitor    monitoring.ServiceMonitor
	rule       monitoring.PrometheusRule
	kinds      []string
}

// helm runs helm, which make builds. Without it nothing about the chart is known.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	path, err := filepath.Abs("../../../bin/helm")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		t.Skip("NOT CHECKED: bin/helm is not built; make chart-test builds it")
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// template renders the chart with a file of values and others given as key=value.
func template(t *testing.T, values string, set ...string) (string, error) {
	t.Helper()
	args := []string{"template", "lineproof", chart, "--namespace", "lineproof", "--kube-version", "1.33.0"}
	if values != "" {
		args = append(args, "--values", values)
	}
	for _, s := range set {
		args = append(args, "--set-json", s)
	}
	return helm(t, args...)
}

// render decodes every object strictly into the type that Kubernetes has for it: an unknown or
// doubled field, or a value of the wrong type, fails.
func render(t *testing.T, values string, set ...string) manifests {
	t.Helper()
	text, err := template(t, values, set...)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	m := manifests{text: text}
	for document := range strings.SplitSeq(text, "\n---\n") {
		var head meta.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &head); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		m.kinds = append(m.kinds, head.Kind)
		if err := m.decode(head, []byte(document)); err != nil {
			t.Errorf("%s: %v", head.Kind, err)
		}
	}
	slices.Sort(m.kinds)
	return m
}

func (m *manifests) decode(head meta.TypeMeta, document []byte) error {
	var service core.Service
	targets := map[string]any{
		"apps/v1 Deployment": &m.deployment, "batch/v1 Job": &m.job, "v1 ConfigMap": &m.configMap, "v1 ServiceAccount": &m.account,
		"v1 Service": &service, "networking.k8s.io/v1 NetworkPolicy": &m.network, "networking.k8s.io/v1 Ingress": &m.ingress,
		"policy/v1 PodDisruptionBudget": &m.budget, "monitoring.coreos.com/v1 ServiceMonitor": &m.monitor,
		"monitoring.coreos.com/v1 PrometheusRule": &m.rule,
	}
	target, ok := targets[head.APIVersion+" "+head.Kind]
	if !ok {
		return errors.New("the test knows no type for " + head.APIVersion)
	}
	err := yaml.UnmarshalStrict(document, target)
	if head.Kind == "Service" {
		m.services = append(m.services, service)
	}
	return err
}

// The chart passes helm's lint with each file of values.
func TestChartIsLinted(t *testing.T) {
	t.Parallel()
	for _, values := range []string{minimal, full} {
		out, err := helm(t, "lint", chart, "--strict", "--kube-version", "1.33.0", "--values", values)
		if err != nil || strings.Contains(out, "[WARNING]") {
			t.Errorf("%s: %v: %s", values, err, out)
		}
	}
}

// With the default values alone the chart renders nothing, and says everything that is missing.
func TestChartSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	out, err := template(t, "")
	if err == nil {
		t.Fatal("it rendered")
	}
	for _, name := range []string{"image.repository", "secret.name", "migrate.secretName", "LINEPROOF_PUBLIC_URL", "LINEPROOF_S3_ENDPOINT", "data.existingClaim", "trustedProxies"} {
		if !strings.Contains(out, name) {
			t.Errorf("it does not name %s: %s", name, out)
		}
	}
	for _, wrong := range []struct{ set, want string }{
		{`replicaCount=2`, "share a directory"},
		{`image.repository=""`, "put the image"},
		{`data.existingClaim=""`, "lost with the pod"},
		{`trustedProxies=[]`, "terminate TLS"},
		{`ingress.enabled=true`, "ingress.host"},
	} {
		if out, err := template(t, minimal, wrong.set); err == nil || !strings.Contains(out, wrong.want) {
			t.Errorf("%s: %v: %s", wrong.set, err, out)
		}
	}
}

// Each file of values renders the objects that it asks for.
func TestChartRendersItsObjects(t *testing.T) {
	t.Parallel()
	always := []string{"ConfigMap", "Deployment", "Job", "NetworkPolicy", "Service", "Service", "ServiceAccount"}
	if got := render(t, minimal).kinds; !slices.Equal(got, always) {
		t.Errorf("minimal: %v", got)
	}
	all := append([]string{"Ingress", "PodDisruptionBudget", "PrometheusRule", "ServiceMonitor"}, always...)
	slices.Sort(all)
	m := render(t, full)
	if !slices.Equal(m.kinds, all) {
		t.Errorf("full: %v", m.kinds)
	}
	rules, err := os.ReadFile(chart + "/rules/lineproof.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if want := bytes.Count(rules, []byte("- alert: ")); want == 0 || len(m.rule.Spec.Groups) == 0 || strings.Count(m.text, "alert: ") != want {
		t.Errorf("PrometheusRule has %d alerts, want %d", strings.Count(m.text, "alert: "), want)
	}
}

// The check of manifests finds fields that Kubernetes does not know.
func TestUnknownFieldsAreFound(t *testing.T) {
	t.Parallel()
	for _, document := range []string{
		"apiVersion: v1\nkind: Service\nspec: {prots: []}", "apiVersion: v1\nkind: Service\nspec: {ports: [{port: http}]}",
		"apiVersion: v1\nkind: Service\nkind: Service", "apiVersion: apps/v1\nkind: Service",
	} {
		var head meta.TypeMeta
		_ = yaml.Unmarshal([]byte(document), &head)
		if err := (&manifests{}).decode(head, []byte(document)); err == nil {
			t.Errorf("accepted: %q", document)
		}
	}
}
