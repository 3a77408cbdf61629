package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// nextMigrations has a migration of every kind that the lint of migrations allows: what a next
// release might bring.
const nextMigrations = "internal/platform/pg/testdata/next"

// applyNext applies the migrations of a next release to a database.
func applyNext(t *testing.T, root string, pool *pgxpool.Pool) {
	t.Helper()
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	provider := must(goose.NewProvider(goose.DialectPostgres, db, os.DirFS(filepath.Join(root, nextMigrations)), goose.WithAllowOutofOrder(true)))(t)
	if applied := must(provider.Up(t.Context()))(t); len(applied) < 10 {
		t.Fatalf("the next release has only %d migrations", len(applied))
	}
}

// previousRelease builds the release before this tree: the newest tag below it, or the tree
// itself as long as nothing was released.
func previousRelease(t *testing.T, root string) string {
	t.Helper()
	tag, err := exec.CommandContext(t.Context(), "git", "-C", root, "describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^").Output()
	if err != nil {
		t.Log("nothing was released: the program before the upgrade is that of this tree")
		return buildProgram(t, root)
	}
	name := strings.TrimSpace(string(tag))
	t.Logf("the program before the upgrade is that of %s", name)
	dir := t.TempDir()
	archive := filepath.Join(dir, "source.tar")
	run(t, root, "git", "archive", "--output", archive, name)
	run(t, dir, "tar", "-xf", archive)
	return buildProgram(t, dir)
}

// nextRelease builds this tree with more migrations, without touching its files.
func nextRelease(t *testing.T, root string) string {
	t.Helper()
	// The rights that the doctor compares with are those after the migrations.
	url := pgtest.URL(t)
	applyNext(t, root, pgtest.Open(t, url, pg.Owner))
	rights := must(pg.Rights(t.Context(), pgtest.Open(t, url, "")))(t)
	file := filepath.Join(t.TempDir(), "rights.txt")
	if err := os.WriteFile(file, []byte(strings.Join(rights, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{filepath.Join(root, "internal/platform/pg/rights.txt"): file}
	for _, path := range must(filepath.Glob(filepath.Join(root, nextMigrations, "*.sql")))(t) {
		replace[filepath.Join(root, "internal/platform/pg/migrations", filepath.Base(path))] = path
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(overlay, must(json.Marshal(map[string]any{"Replace": replace}))(t), 0o600); err != nil {
		t.Fatal(err)
	}
	return buildProgram(t, root, "-overlay", overlay)
}

func buildProgram(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "lineproof")
	run(t, dir, "go", append(append([]string{"build", "-trimpath"}, flags...), "-o", program, "./cmd/lineproof")...)
	return program
}

func run(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}
