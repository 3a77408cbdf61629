package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

const importsPath = "/api/v1/lines/imports"

// startDurable starts a cluster that survives crashes, configured for millions of
// lines, and returns a function that creates databases in it.
func startDurable(t *testing.T) (database func() string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs PostgreSQL; not run with -short")
	}
	ctx := context.Background()
	c := must(pgtest.Start(ctx, pgtest.Durable, "shared_buffers = 1GB", "max_wal_size = 4GB", "checkpoint_timeout = 15min"))(t)
	t.Cleanup(c.Stop)
	if err := c.MakeTemplate(ctx); err != nil {
		t.Fatal(err)
	}
	return func() string {
		t.Helper()
		return c.URL(must(c.Clone(ctx))(t))
	}
}

// country describes the lines of a network on the fixture's plan.
func (w *fixture) nation(t *testing.T, network string, lines int64, asOf time.Time) linefile.SyntheticNetwork {
	t.Helper()
	plan := must(numbering.Current(t.Context(), w.pool, time.Now()))(t)
	id, ok := plan.Network(network)
	if !ok {
		t.Fatalf("%s is not on the plan", network)
	}
	return linefile.SyntheticNetwork{Seed: 3, Plan: plan, Network: id, Lines: lines, AsOf: asOf}
}

// supplyFile is a file that a network sends.
type supplyFile struct {
	kind, path string
	asOf       time.Time // zero when it is not said
}

// newSupplyFile writes a file. Twist, if it is not nil, gets each line with its
// number, the header as 0, and returns its replacement.
func newSupplyFile(t *testing.T, kind string, asOf time.Time, write func(io.Writer) error, twist func(i int, row string) string) supplyFile {
	t.Helper()
	f := must(os.CreateTemp(t.TempDir(), kind+"-*.csv"))(t)
	in, out := io.Pipe()
	go func() { _ = out.CloseWithError(write(out)) }() // whoever reads gets the error
	rows, to := bufio.NewScanner(in), bufio.NewWriter(f)
	var err error
	for i := 0; rows.Scan() && err == nil; i++ {
		row := rows.Text() + "\n"
		if twist != nil {
			row = twist(i, row)
		}
		_, err = to.WriteString(row)
	}
	if err := errors.Join(err, rows.Err(), to.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return supplyFile{kind: kind, path: f.Name(), asOf: asOf}
}

// command starts a command of the program on the fixture's database.
func command(t *testing.T, w *fixture, args ...string) *instance {
	t.Helper()
	log := must(os.Create(filepath.Join(t.TempDir(), "command.log")))(t)
	return launch(t, log, w.settings(), args...)
}

// importCommand starts the import of a file at the command line, or resumes it.
func importCommand(t *testing.T, w *fixture, network string, f supplyFile, resume string) *instance {
	t.Helper()
	args := []string{"lines", "import", "--network", network, "--kind", f.kind}
	if !f.asOf.IsZero() {
		args = append(args, "--as-of", f.asOf.Format(time.RFC3339))
	}
	if resume != "" {
		args = []string{"lines", "import", "--resume", resume}
	}
	return command(t, w, append(args, f.path)...)
}

// shownImport is the response of the API about an import.
type shownImport struct {
	ImportID string `json:"importId"`
	State    string `json:"state"`
	Rows     int64  `json:"rows"`
	Reason   string `json:"reason"`
}

// sendFile sends a file to the server as an operator's program does.
func sendFile(ctx context.Context, address, token string, f supplyFile) (shownImport, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return shownImport{}, fmt.Errorf("e2e: open the file: %w", err)
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil {
		return shownImport{}, fmt.Errorf("e2e: look at the file: %w", err)
	}
	query := url.Values{"kind": {f.kind}}
	if !f.asOf.IsZero() {
		query.Set("asOf", f.asOf.Format(time.RFC3339))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+importsPath+"?"+query.Encode(), file)
	if err != nil {
		return shownImport{}, fmt.Errorf("e2e: make the request: %w", err)
	}
	r.ContentLength = about.Size()
	r.Header.Set("Content-Type", "text/csv")
	return importAnswer(r, token, http.StatusAccepted)
}

// importState requests the state of an import. It asks again for a while, as clients do, when
// the service is unavailable: the disk of a busy machine may stall for longer than a request waits.
func importState(ctx context.Context, address, token, id string) (shownImport, error) {
	for range 20 {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+importsPath+"/"+id, http.NoBody)
		if err != nil {
			return shownImport{}, fmt.Errorf("e2e: make the request: %w", err)
		}
		shown, err := importAnswer(r, token, http.StatusOK)
		if !errors.Is(err, errUnavailable) {
			return shown, err
		}
		if err := pass(ctx, 500*time.Millisecond); err != nil {
			return shownImport{}, err
		}
	}
	return shownImport{}, errUnavailable
}

var errUnavailable = errors.New("e2e: the service is unavailable")

// importClient has no timeout: a national file takes minutes.
var importClient = &http.Client{}

func importAnswer(r *http.Request, token string, want int) (shownImport, error) {
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := importClient.Do(r)
	if err != nil {
		return shownImport{}, fmt.Errorf("e2e: no answer: %w", err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return shownImport{}, fmt.Errorf("e2e: the answer was cut: %w", err)
	}
	if resp.StatusCode == http.StatusServiceUnavailable {
		return shownImport{}, fmt.Errorf("%w: %s", errUnavailable, strings.TrimSpace(string(b)))
	}
	var body struct {
		Data shownImport `json:"data"`
	}
	if err := json.Unmarshal(b, &body); err != nil || resp.StatusCode != want {
		return shownImport{}, fmt.Errorf("e2e: the answer is %d: %s", resp.StatusCode, strings.TrimSpace(string(b)))
	}
	return body.Data, nil
}
