package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// What is put into a directory is sent in the order of the times in the names, each file once;
// it ends in done with its rejected rows, or in failed with the reason.
func TestWatchedDirectoryIsDelivered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := newMachine(t, pgtest.URL(t), dir)
	m.object(nil, "demo", "--accounts=false")
	at := "LINEPROOF_API_URL=" + m.serve()
	created := m.object(nil, "client", "create", "--name", "MTN", "--scope", "line:supply", "--network", "MTN")
	id, _ := created["clientId"].(string)
	key, _ := created["clientSecret"].(string)
	mtn := []string{at, "LINEPROOF_API_CLIENT_ID=" + id, "LINEPROOF_API_CLIENT_SECRET=" + key}
	day := func(n int) string { return time.Now().UTC().AddDate(0, 0, -n).Format(time.DateOnly) }
	in := filepath.Join(dir, "outgoing")
	put := func(name, content string) {
		if err := os.MkdirAll(in, 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(in, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const number = "+2348035550001"
	later, earlier, broken := "events-"+day(1)+".csv", "events-"+day(2)+"T020000Z-new.csv", "events-"+day(3)+".csv"
	put(later, "id,number,type,effectiveAt\nswap-1,"+number+",SIM_CHANGED,"+day(3)+"\nswap-2,"+number+",SIM_CHANGED,never\n")
	put(earlier, "id,number,type,effectiveAt,firstHolder\nnew-1,"+number+",ASSIGNED,"+day(20)+",true\n")
	put(broken, "no,such,columns\n1,2,3\n")
	put("notes.txt", "nothing to send")
	_, stderr := m.run(6, mtn, "api", "lines", "watch", "--once", "--settled", "0s", in)
	if !strings.Contains(stderr, "notes.txt: not sent") || strings.Index(stderr, earlier) > strings.Index(stderr, later) {
		t.Errorf("standard error says:\n%s", stderr)
	}
	has := func(path, want string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(in, path))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
	has("done/"+earlier, "new-1")
	has("done/"+later+".rejected.csv", "effectiveAt")
	has("failed/"+broken+".reason.txt", "column")
	stdout, _ := m.run(0, mtn, "api", "lines", "history", number)
	if !strings.Contains(stdout, "SIM_CHANGED") {
		t.Errorf("the history is:\n%s", stdout)
	}

	before, _ := m.run(0, mtn, "api", "lines", "imports")
	if end := day(1) + "T22:59:59"; !strings.Contains(before, end) { // the end of that day in Lagos
		t.Errorf("no file is as of %s:\n%s", end, before)
	}
	put(earlier, "id,number,type,effectiveAt,firstHolder\nnew-1,"+number+",ASSIGNED,"+day(20)+",true\n")
	m.run(0, mtn, "api", "lines", "watch", "--once", "--settled", "0s", in)
	if after, _ := m.run(0, mtn, "api", "lines", "imports"); after != before {
		t.Errorf("a file that was delivered before is imported again:\n%s", after)
	}
	m.run(2, mtn, "api", "lines", "watch", "--interval", "1ms", in)
}

// A command that sends a file can wait for it, and its exit code says whether all is well.
func TestSendWaitsForTheImport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := newMachine(t, pgtest.URL(t), dir)
	m.object(nil, "demo", "--accounts=false")
	at := "LINEPROOF_API_URL=" + m.serve()
	created := m.object(nil, "client", "create", "--name", "MTN", "--scope", "line:supply", "--network", "MTN")
	id, _ := created["clientId"].(string)
	key, _ := created["clientSecret"].(string)
	mtn := []string{at, "LINEPROOF_API_CLIENT_ID=" + id, "LINEPROOF_API_CLIENT_SECRET=" + key}
	path := filepath.Join(dir, "events.csv")
	for content, want := range map[string]int{
		"id,number,type,effectiveAt,firstHolder\nnew-1,+2348035550001,ASSIGNED,2026-01-01,true\n":  0,
		"id,number,type,effectiveAt,firstHolder\nnew-2,+2348035550002,ASSIGNED,2026-01-01,maybe\n": 6,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if stdout, _ := m.run(want, mtn, "api", "lines", "send", "--kind", "events", "--wait", path); !strings.Contains(stdout, "applied") {
			t.Errorf("it printed:\n%s", stdout)
		}
	}
}
