package repository_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/docs"
	"github.com/lineproof/lineproof/internal/platform/telemetry"
)

// The front page stays short enough to be read by somebody who only looks in.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()

	if n := strings.Count(readText(t, "README.md"), "\n"); n > 150 {
		t.Errorf("README.md has %d lines, more than 150", n)
	}
}

// The page of metrics names every metric that the program serves, with its
// kind, and no other.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()

	m := telemetry.NewMetrics()
	m.CertificateExpires(time.Unix(1, 0))
	m.Supply([]telemetry.SupplyStat{{Network: "MTN"}}, 0)
	m.JournalDiskBytes(1, 1)
	m.JournalDaysLeft(1)
	m.DocumentsWaiting(1, time.Second)
	m.ChangesDistributed(1, map[string]int{"line.v1.swapped": 1})
	m.OutboxLag(map[string]time.Duration{"feed": time.Second})
	m.FileJobsOpen(1, time.Second)
	m.LogState(0, map[string]time.Time{"w1": {}})
	m.RegisterJobs([]string{"send_email"})
	m.ScannerTested("ok")
	m.ScannerSignatures(time.Unix(1, 0))
	m.TallySettled(time.Unix(1, 0))
	m.RequestLogDropped(1)
	m.RegisterPasswords(func() int { return 0 })
	m.RegisterWaiting(func() int { return 0 })
	m.RegisterListening(func() bool { return true })
	m.RegisterRows([]string{"account"})
	m.RegisterLimits(func() uint64 { return 0 })
	m.RegisterGuard([]string{"density"}, []string{"stopped"})
	m.RegisterPools(map[string]func() telemetry.PoolStat{"verify": func() telemetry.PoolStat { return telemetry.PoolStat{} }})
	m.RequestBegan()
	m.RequestEnded("", http.StatusOK, false, 0) // a family with labels is served from its first value on
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))

	var served, documented []string
	for _, row := range regexp.MustCompile(`(?m)^# TYPE (lineproof_\w+) (\w+)$`).FindAllStringSubmatch(answer.Body.String(), -1) {
		served = append(served, row[1]+" "+row[2])
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `(lineproof_\\w+)` \\| (\\w+) \\|").FindAllStringSubmatch(readText(t, "docs/reference/metrics.md"), -1) {
		documented = append(documented, row[1]+" "+row[2])
	}
	slices.Sort(served)
	slices.Sort(documented)
	if diff := cmp.Diff(served, documented); diff != "" {
		t.Errorf("docs/reference/metrics.md (-served +documented):\n%s", diff)
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
	heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)

	codeOrAddress = regexp.MustCompile("\\]\\([^()\\s]+\\)|`[^`]+`")
)

// Every relative link of every page leads to a file that is there and, where it
// names one, to a heading of it.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()

	for page, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, ":") {
				continue // an address elsewhere
			}
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(whole(target)); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
				continue
			}
			if anchor != "" && !slices.Contains(anchors(readText(t, target)), anchor) {
				t.Errorf("%s links to %s, and that page has no such heading", page, m[1])
			}
		}
	}
}

// Every page of the documentation can be found from another one.
func TestPagesAreLinked(t *testing.T) {
	t.Parallel()

	linked := map[string]bool{}
	all := pages(t)
	for page, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			file, _, _ := strings.Cut(m[1], "#")
			if target := filepath.Join(filepath.Dir(page), file); target != page {
				linked[target] = true
			}
		}
	}
	for page := range all {
		if strings.HasPrefix(page, "docs"+string(filepath.Separator)) && !linked[page] {
			t.Errorf("no page links to %s", page)
		}
	}
}

// A line of prose in an explanation has at most 100 columns, so that it is read and compared
// without scrolling. Tables, blocks of code and what can't be wrapped, an address or a code
// within the line, may be longer.
func TestExplanationsAreWrapped(t *testing.T) {
	t.Parallel()

	for page, text := range pages(t) {
		if filepath.ToSlash(filepath.Dir(page)) != "docs/explanation" {
			continue
		}
		for line := range strings.Lines(fence.ReplaceAllString(text, "")) {
			prose := codeOrAddress.ReplaceAllString(strings.TrimSuffix(line, "\n"), "")
			if n := utf8.RuneCountInString(prose); n > 100 && !strings.HasPrefix(prose, "|") {
				t.Errorf("%s has a line of %d columns: %s", page, n, line)
			}
		}
	}
}

// The guide serves every page of the documentation: docs/docs.go embeds it.
func TestPagesAreInTheGuide(t *testing.T) {
	t.Parallel()

	for page := range pages(t) {
		if name, ok := strings.CutPrefix(filepath.ToSlash(page), "docs/"); ok {
			if _, err := fs.Stat(docs.Files, name); err != nil {
				t.Errorf("docs/docs.go does not embed %s", page)
			}
		}
	}
}

// pages returns the text of every Markdown file by its path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(checkout, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			found[path] = readText(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// anchors returns the names by which the headings of a page can be linked to,
// made as the usual viewers make them.
func anchors(page string) []string {
	var names []string
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, m[1]))
	}
	return names
}
