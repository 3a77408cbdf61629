package config_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// reveal makes peppers comparable and readable for a test.
func reveal(peppers []secret.Text) []string {
	texts := make([]string, len(peppers))
	for i, p := range peppers {
		texts[i] = p.Reveal()
	}
	return texts
}

// A list that is set is used unchanged, newest first, and nothing is written.
func TestPeppersThatAreSetAreUsed(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	a, b := strings.Repeat("a", 32), strings.Repeat("b", 40)
	cfg := load(t, "LINEPROOF_DATA="+data, "LINEPROOF_PEPPERS="+b+", "+a)
	got, err := cfg.Peppers()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{b, a}, reveal(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("the data directory was made: %v", err)
	}
}

// Processes that start at the same time on an empty directory get the same pepper,
// which is complete, private, durable, and the only file there.
func TestPepperIsMadeOnce(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	cfg := load(t, "LINEPROOF_DATA="+data)
	const starters = 32
	var (
		wg  sync.WaitGroup
		got [starters]string
	)
	for i := range starters {
		wg.Go(func() {
			peppers, err := cfg.Peppers()
			if err != nil || len(peppers) != 1 {
				t.Errorf("Peppers() = %d peppers, %v", len(peppers), err)
				return
			}
			got[i] = peppers[0].Reveal()
		})
	}
	wg.Wait()
	for _, pepper := range got {
		if len(pepper) < 32 || pepper != got[0] {
			t.Fatalf("peppers differ or are short: %q", got)
		}
	}
	entries, err := os.ReadDir(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != "pepper" {
		t.Fatalf("left in the directory: %v", entries)
	}
	info, err := entries[0].Info()
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("mode = %v, want 0600", info.Mode())
	}
	other := load(t, "LINEPROOF_DATA="+t.TempDir())
	peppers, err := other.Peppers()
	if err != nil {
		t.Fatal(err)
	}
	if peppers[0].Reveal() == got[0] {
		t.Error("two nodes made the same pepper")
	}
}

// A pepper that others can read or that is damaged is refused, and never replaced:
// credentials hashed with it could not be checked any more.
func TestInvalidPepperIsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		mode fs.FileMode
		want string
	}{
		"readable by all": {strings.Repeat("p", 43) + "\n", 0o644, "chmod 600"},
		"cut short":       {"ppp\n", 0o600, "backup"},
		"empty":           {"", 0o600, "backup"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			path := filepath.Join(data, "pepper")
			if err := os.WriteFile(path, []byte(tc.text), tc.mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tc.mode); err != nil {
				t.Fatal(err)
			}
			cfg := config.Config{Data: data}
			if _, err := cfg.Peppers(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Peppers() error = %v, want one that says %q", err, tc.want)
			}
			if left, err := os.ReadFile(path); err != nil || string(left) != tc.text {
				t.Errorf("the file was touched: %v", err)
			}
		})
	}
}
