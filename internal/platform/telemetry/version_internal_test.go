package telemetry

import (
	"runtime/debug"
	"testing"
)

// A version names the running release, or the revision if it is not a release.
func TestVersionNamesWhatWasBuilt(t *testing.T) {
	t.Parallel()
	revision := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}}
	changed := append([]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}, revision...)
	for name, tc := range map[string]struct {
		version  string
		settings []debug.BuildSetting
		want     string
	}{
		"nothing known":       {"", nil, "devel"},
		"go run":              {"(devel)", nil, "devel"},
		"revision alone":      {"(devel)", revision, "devel+0123456789ab"},
		"installed release":   {"v1.2.3", nil, "v1.2.3"},
		"release, revision":   {"v1.2.3", revision, "v1.2.3+0123456789ab"},
		"release with edits":  {"v1.2.3+dirty", changed, "v1.2.3+0123456789ab.dirty"},
		"between releases":    {"v1.2.4-0.20261114093000-0123456789ab", revision, "v1.2.4-0.20261114093000-0123456789ab"},
		"between, with edits": {"v1.2.4-0.20261114093000-0123456789ab+dirty", changed, "v1.2.4-0.20261114093000-0123456789ab+dirty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := versionOf(&debug.BuildInfo{Main: debug.Module{Version: tc.version}, Settings: tc.settings}); got != tc.want {
				t.Errorf("versionOf = %q, want %q", got, tc.want)
			}
		})
	}
}
