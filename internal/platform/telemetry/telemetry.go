// Package telemetry has the log, the metrics and the traces of the service, and
// the version that all of them carry.
//
// Alerts and dashboards depend on the names of metrics: they are declared here and
// nowhere else, and a test pins them. No metric has a label whose values a caller
// chooses, so that no client can make the number of series grow.
package telemetry

import (
	"cmp"
	"runtime/debug"
	"strings"
)

// Version returns the version of the running program: the module's version, and
// the revision it was built from where that says more. "devel" is used if
// there is no version, and ".dirty" is added for a build from modified sources.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	var revision string
	var dirty bool
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(len(s.Value), 12)]
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	version := strings.TrimSuffix(info.Main.Version, "+dirty")
	if version == "(devel)" {
		version = ""
	}
	version = cmp.Or(version, "devel")

	var extra []string
	if revision != "" && !strings.Contains(version, revision) {
		extra = append(extra, revision)
	}
	if dirty {
		extra = append(extra, "dirty")
	}
	if len(extra) == 0 {
		return version
	}
	return version + "+" + strings.Join(extra, ".")
}
