package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// doctor runs the doctor for a cluster with the settings of the first node, and returns the checks
// that fail.
func (n *haCluster) doctor() (failing []string, said string) {
	n.t.Helper()
	p := launch(n.t, must(os.Create(filepath.Join(n.t.TempDir(), "doctor.log")))(n.t), append(n.w.settings(), n.nodes[0].settings...), "doctor", "--ha")
	if !p.ends(n.t, time.Minute) {
		n.t.Fatal("the doctor does not end")
	}
	said = p.output(n.t)
	for text := range strings.Lines(said) {
		if rest, ok := strings.CutPrefix(text, "fail  "); ok {
			check, _, _ := strings.Cut(rest, ":")
			failing = append(failing, check)
		}
	}
	return failing, said
}

// Of the cluster of deploy/ha the doctor finds nothing but that no backups are set up yet; then a
// standby that hangs, and that no standby confirms.
func TestDoctorOfACluster(t *testing.T) {
	n := newHaCluster(t)
	expect := func(when string, want ...string) {
		t.Helper()
		failing, said := n.doctor()
		for end := time.Now().Add(30 * time.Second); !slices.Equal(failing, want) && time.Now().Before(end); {
			failing, said = n.doctor()
		}
		if !slices.Equal(failing, want) {
			t.Fatalf("%s: %v fail, want %v\n%s", when, failing, want, said)
		}
		t.Logf("%s: %v fail", when, failing)
	}
	expect("as installed", "archive")
	leader := n.leader()
	frozen := 0
	for _, m := range n.db.Nodes {
		if m == leader {
			continue
		}
		n.must(m.Freeze())
		t.Cleanup(func() { _ = m.Thaw() })
		if frozen++; frozen == 1 {
			expect("one standby hangs", "hosts", "archive")
		}
	}
	expect("both standbys hang", "hosts", "synchronous standby", "archive")
}
