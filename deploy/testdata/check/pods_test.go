package check_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/server/config"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// pods returns the templates of the pods that the chart starts.
func (m manifests) pods() map[string]core.PodTemplateSpec {
	return map[string]core.PodTemplateSpec{"service": m.deployment.Spec.Template, "migrate": m.job.Spec.Template}
}

// Kubernetes' own rules for the level "restricted" accept every pod, which moreover cannot write to
// its root, has no token, and writes to /tmp and /var/lib/lineproof only.
func TestPodsAreRestricted(t *testing.T) {
	t.Parallel()
	for _, values := range []string{minimal, full} {
		m := render(t, values)
		for name, pod := range m.pods() {
			for _, refusal := range refusals(t, pod) {
				t.Errorf("%s, %s: %s", values, name, refusal)
			}
			if pod.Spec.AutomountServiceAccountToken == nil || *pod.Spec.AutomountServiceAccountToken {
				t.Errorf("%s, %s: the pod gets a token", values, name)
			}
			if user := pod.Spec.SecurityContext.RunAsUser; user == nil || *user == 0 {
				t.Errorf("%s, %s: no numeric user", values, name)
			}
			for _, c := range pod.Spec.Containers {
				if c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem {
					t.Errorf("%s, %s: the root can be written", values, name)
				}
				for _, mount := range c.VolumeMounts {
					if !mount.ReadOnly && mount.MountPath != "/tmp" && mount.MountPath != "/var/lib/lineproof" {
						t.Errorf("%s, %s: %s can be written", values, name, mount.MountPath)
					}
				}
			}
		}
		if m.account.AutomountServiceAccountToken == nil || *m.account.AutomountServiceAccountToken {
			t.Errorf("%s: the account gets a token", values)
		}
	}
}

func refusals(t *testing.T, pod core.PodTemplateSpec) (found []string) {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range evaluator.EvaluatePod(api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}, &meta.ObjectMeta{}, &pod.Spec) {
		if !result.Allowed {
			found = append(found, result.ForbiddenReason+": "+result.ForbiddenDetail)
		}
	}
	return found
}

// The rules refuse a pod that runs as root.
func TestARootPodIsFound(t *testing.T) {
	t.Parallel()
	pod := render(t, minimal).deployment.Spec.Template
	*pod.Spec.SecurityContext.RunAsUser = 0
	if len(refusals(t, pod)) == 0 {
		t.Error("the pod is accepted")
	}
}

// The program accepts the settings that each pod gets, with the secrets that its Secret has.
func TestProgramAcceptsTheSettings(t *testing.T) {
	t.Parallel()
	for _, values := range []string{minimal, full} {
		m := render(t, values)
		for name, pod := range m.pods() {
			c, err := config.Load(t.Context(), environ(t, m, pod))
			if err != nil {
				t.Errorf("%s, %s: %v", values, name, err)
			}
			if name == "service" && values == full && (c.ImportMaxBytes != 8589934592 || !c.DocumentsRestrict || c.AccessGrace != 2*time.Minute || c.S3SecretKey == "") {
				t.Error("the settings are not those of the values")
			}
			if name == "migrate" && values == full && (c.JournalDaysAhead != 14 || c.PepperList != "" || c.S3Endpoint != "") {
				t.Error("the migration has settings of the service, or lacks its own")
			}
		}
	}
}

var secretSettings = map[string]string{
	"LINEPROOF_DATABASE_URL":      "postgres://lineproof_service:not-a-secret@db.example/lineproof?sslmode=verify-full",
	"LINEPROOF_READ_DATABASE_URL": "postgres://lineproof_service:not-a-secret@standby.example/lineproof?sslmode=verify-full",
	"LINEPROOF_PEPPERS":           strings.Repeat("pepper", 8),
	"LINEPROOF_REDIS_URL":         "rediss://redis.example:6379/0",
	"LINEPROOF_S3_SECRET_KEY":     "not-a-secret",
	"LINEPROOF_SMTP_URL":          "smtps://user:not-a-secret@mail.example:465",
}

// environ returns the environment of the pod's container, with its secrets in a directory.
func environ(t *testing.T, m manifests, pod core.PodTemplateSpec) (env []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range secretSettings {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := pod.Spec.Containers[0]
	if len(c.EnvFrom) > 0 {
		for name, value := range m.configMap.Data {
			env = append(env, name+"="+value)
		}
	}
	for _, e := range c.Env {
		value := e.Value
		if e.ValueFrom != nil {
			value = "lineproof-6d4cf56db6-x2x7c"
		}
		if path, isFile := strings.CutPrefix(value, "/run/secrets/"); isFile {
			value = filepath.Join(dir, filepath.Base(path))
			if !slices.ContainsFunc(c.VolumeMounts, func(v core.VolumeMount) bool { return strings.HasPrefix(e.Value, v.MountPath+"/") }) {
				t.Errorf("%s is in no volume", e.Value)
			}
		}
		env = append(env, e.Name+"="+value)
	}
	return env
}

// No secret is in the rendered objects: they come from Secrets that exist.
func TestManifestsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	m := render(t, full)
	for name := range secretSettings {
		if _, plain := m.configMap.Data[name]; plain {
			t.Errorf("the ConfigMap has %s", name)
		}
	}
	if slices.Contains(m.kinds, "Secret") {
		t.Error("the chart creates a Secret")
	}
}

// A pod that stops has time for its drain, and gets no request meanwhile: it reports "not ready" for
// longer than Kubernetes needs to notice.
func TestDrainFits(t *testing.T) {
	t.Parallel()
	for _, values := range []string{minimal, full} {
		m := render(t, values)
		pod := m.deployment.Spec.Template
		c, err := config.Load(t.Context(), environ(t, m, pod))
		if err != nil {
			t.Fatal(err)
		}
		// The drain, the flush of the counts, and the jobs.
		if grace := time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second; grace < c.DrainDelay+2*c.DrainTimeout+2*time.Second {
			t.Errorf("%s: a grace period of %v is shorter than the drain", values, grace)
		}
		probe := pod.Spec.Containers[0].ReadinessProbe
		if noticed := time.Duration(probe.PeriodSeconds*probe.FailureThreshold) * time.Second; noticed > c.DrainDelay {
			t.Errorf("%s: the probe notices after %v, the listener closes after %v", values, noticed, c.DrainDelay)
		}
	}
}

// A database that is away makes pods "not ready" and restarts none; the probes use ports that exist.
func TestProbesAskTheRightPage(t *testing.T) {
	t.Parallel()
	c := render(t, minimal).deployment.Spec.Template.Spec.Containers[0]
	for _, probe := range []struct {
		*core.Probe
		path string
	}{{c.LivenessProbe, "/healthz"}, {c.StartupProbe, "/healthz"}, {c.ReadinessProbe, "/readyz"}} {
		if probe.HTTPGet.Path != probe.path || probe.HTTPGet.Port.String() != "private" {
			t.Errorf("%s is asked at %s", probe.HTTPGet.Path, probe.HTTPGet.Port.String())
		}
	}
	for _, port := range []core.ContainerPort{{Name: "public", ContainerPort: 8080}, {Name: "private", ContainerPort: 8081}} {
		if !slices.Contains(c.Ports, port) {
			t.Errorf("there is no port %v", port)
		}
	}
}

// Services, policy, budget and spread select the pods of the service, and not those of the migration.
func TestSelectorsSelectTheService(t *testing.T) {
	t.Parallel()
	m := render(t, full)
	selectors := []map[string]string{m.deployment.Spec.Selector.MatchLabels, m.network.Spec.PodSelector.MatchLabels, m.budget.Spec.Selector.MatchLabels}
	for _, s := range m.services {
		selectors = append(selectors, s.Spec.Selector)
	}
	for _, c := range m.deployment.Spec.Template.Spec.TopologySpreadConstraints {
		selectors = append(selectors, c.LabelSelector.MatchLabels)
	}
	for _, s := range selectors {
		if !selects(s, m.deployment.Spec.Template.Labels) || selects(s, m.job.Spec.Template.Labels) {
			t.Errorf("%v", s)
		}
	}
	if !slices.ContainsFunc(m.services, func(s core.Service) bool { return selects(m.monitor.Spec.Selector.MatchLabels, s.Labels) }) {
		t.Error("the ServiceMonitor selects no service")
	}
}

func selects(selector, labels map[string]string) bool {
	for name, value := range selector {
		if labels[name] != value {
			return false
		}
	}
	return len(selector) > 0
}

// Nobody reaches metrics and profiles unless the values say who.
func TestPrivateListenerIsPrivate(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]int{minimal: 0, full: 1} {
		open := 0
		for _, rule := range render(t, values).network.Spec.Ingress {
			for _, port := range rule.Ports {
				if port.Port.String() == "private" {
					open += len(rule.From)
					if len(rule.From) == 0 {
						t.Errorf("%s: everybody reaches the private listener", values)
					}
				}
			}
		}
		if open != want {
			t.Errorf("%s: %d may reach the private listener, want %d", values, open, want)
		}
	}
}
