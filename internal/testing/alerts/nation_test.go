package alerts_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// Whoever starts the small nation and its dashboards finds no empty panel.
//
// LINEPROOF_E2E_NATION is how many lines it has.
func TestEveryPanelHasDataOfTheSmallNation(t *testing.T) { //nolint:paralleltest // it needs both cores
	lines := os.Getenv("LINEPROOF_E2E_NATION")
	if lines == "" {
		t.Skip("takes minutes; run make small-nation")
	}
	ctx := t.Context()
	s := &site{dir: t.TempDir()}
	s.client.Timeout = 5 * time.Second
	for _, address := range []*string{&s.public, &s.private} {
		var err error
		if *address, err = freeAddress(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := exec.Command("go", "build", "-o", s.dir+"/", "../../../cmd/lineproof", "../../../cmd/lineproof-nation").CombinedOutput(); err != nil {
		t.Fatalf("build the programs: %v\n%s", err, said)
	}
	nation, err := s.launchProgram(filepath.Join(s.dir, "lineproof-nation"), "nation.log", []string{
		"LINEPROOF_DATABASE_URL=" + pgtest.Empty(t), "LINEPROOF_DATA=" + filepath.Join(s.dir, "data"), "LINEPROOF_LISTEN=" + s.public, "LINEPROOF_PRIVATE_LISTEN=" + s.private,
	}, "--json", "--lines", lines)
	if err != nil {
		t.Fatal(err)
	}
	defer nation.Kill()
	for deadline := time.Now().Add(10 * time.Minute); ; {
		err := until(ctx, "the nation moves", func(context.Context) error {
			if log, err := os.ReadFile(filepath.Join(s.dir, "nation.log")); err != nil || !strings.Contains(string(log), `"status"`) {
				return errors.Join(errors.New("not yet"), err)
			}
			return nil
		})
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	rules, err := filepath.Abs(rulesDir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.startPrometheus(ctx, rules, s.private)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	p.wantPanels(t, map[string]string{"Certificates": "this site has no TLS"})
}
