package e2e_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/testing/clamtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// However often the scanner is killed during a scan: no document becomes clean
// without a complete scan, none is shown before that, and all waiting documents are
// scanned once the scanner is back.
//
// Every second document is infected in its last bytes and otherwise valid: a scan
// that does not read all of it would call it clean.
func TestScannerKilled(t *testing.T) {
	kills := size(t, "LINEPROOF_E2E_SCAN_KILLS", 3)
	w := newFixture(t, pgtest.URL(t))
	clam := clamtest.New(t)
	p := start(t, w, "LINEPROOF_CLAMD_ADDR="+clam.Address(), "LINEPROOF_CLAMD_TIMEOUT=10s")
	d := &scanTest{fixture: w, address: p.public}

	well, sick := samplePNG(false), samplePNG(true)
	infected := map[uuid.UUID]bool{}
	met, rounds := 0, 0
	for ; met < kills && rounds < 20*kills; rounds++ {
		d.mustUpload(t, well)
		infected[d.mustUpload(t, sick)] = true
		met += d.killDuringScan(t, clam)
	}
	began := time.Now()
	d.settle(t)
	t.Logf("killed %d times, %d of them over a scan; %d documents, %d of them infected; the last were settled %s after the scanner was back",
		rounds, met, d.handed, len(infected), time.Since(began).Round(time.Millisecond))
	if met < kills {
		t.Errorf("%d kills met a scan, want %d", met, kills)
	}

	passed := 0
	for id, states := range d.histories(t) {
		want, never := "clean", "infected"
		if infected[id] {
			want, never = "infected", "clean"
		}
		if states[len(states)-1] != want || strings.Contains(strings.Join(states, " "), never) {
			t.Errorf("%s (infected: %t) went %v", id, infected[id], states)
		}
		if status := d.content(t, id); (status == http.StatusOK) == infected[id] {
			t.Errorf("the content of %s (infected: %t) is answered with %d", id, infected[id], status)
		}
		if want == "clean" {
			passed++
		}
	}
	log, err := clam.Log()
	if err != nil {
		t.Fatal(err)
	}
	if whole := strings.Count(log, ": OK\n"); whole < passed {
		t.Errorf("%d documents are clean, and the scanner has passed %d", passed, whole)
	}
	for _, l := range p.lines(t) {
		if l.Level == "ERROR" {
			t.Errorf("the log: %+v", l)
		}
	}
}

// killDuringScan kills the scanner while it has a document, and starts it again. It
// returns 1, or 0 if the scanner was done with all of them before the end.
func (d *scanTest) killDuringScan(t *testing.T, clam *clamtest.Server) int {
	t.Helper()
	var under []uuid.UUID
	process.Until(t, "a document is being scanned", func() bool {
		under = d.underScan(t)
		return len(under) > 0 || len(d.unsettled(t)) == 0
	})
	<-time.After(rand.N(60 * time.Millisecond))
	if err := clam.Kill(); err != nil {
		t.Fatal(err)
	}
	met := 0
	for _, id := range under {
		var job string
		process.Until(t, "the scan has ended", func() bool { job = d.job(t, id); return job != "running" })
		if job == "scheduled" || job == "available" { // it is waiting for the scanner
			met = 1
		}
		if status := d.content(t, id); met == 1 && status == http.StatusOK {
			t.Errorf("%s is shown although its scan was cut off", id)
		}
	}
	if err := clam.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	return met
}

// scanTest uploads documents and checks their states.
type scanTest struct {
	*fixture

	address string
	handed  int
}

// unsettled returns the documents that wait or are being scanned.
func (d *scanTest) unsettled(t *testing.T) []uuid.UUID {
	t.Helper()
	return d.ids(t, `SELECT id FROM document WHERE state IN ('received', 'scanning')`)
}

// underScan returns the documents that the scanner has now.
func (d *scanTest) underScan(t *testing.T) []uuid.UUID {
	t.Helper()
	return d.ids(t, `SELECT id FROM document d WHERE state = 'scanning' AND EXISTS (
		SELECT FROM river_job WHERE kind = 'scan_document' AND args->>'document' = d.id::text AND state = 'running' AND attempted_at < now())`)
}

func (d *scanTest) ids(t *testing.T, query string) (all []uuid.UUID) {
	t.Helper()
	rows := must(d.pool.Query(t.Context(), query))(t)
	defer rows.Close()
	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		all = append(all, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// job returns the state of the job of a document.
func (d *scanTest) job(t *testing.T, id uuid.UUID) (state string) {
	t.Helper()
	err := d.pool.QueryRow(t.Context(), `SELECT state::text FROM river_job WHERE kind = 'scan_document' AND args->>'document' = $1 ORDER BY id DESC LIMIT 1`, id.String()).Scan(&state)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// histories returns the states through which every document went.
func (d *scanTest) histories(t *testing.T) map[uuid.UUID][]string {
	t.Helper()
	rows := must(d.pool.Query(t.Context(), `SELECT document_id, array_agg(to_state ORDER BY seq) FROM document_move GROUP BY document_id`))(t)
	defer rows.Close()
	all := map[uuid.UUID][]string{}
	for rows.Next() {
		var id uuid.UUID
		var states []string
		if err := rows.Scan(&id, &states); err != nil {
			t.Fatal(err)
		}
		all[id] = states
	}
	if err := rows.Err(); err != nil || len(all) < d.handed {
		t.Fatalf("%d of %d documents have a history: %v", len(all), d.handed, err)
	}
	return all
}

// samplePNG is a picture that no compression makes smaller, so that its scan
// takes a while; an infected one has a virus in a comment before its end.
func samplePNG(sick bool) []byte {
	p := image.NewGray(image.Rect(0, 0, 1500, 1500))
	for i := range p.Pix {
		p.Pix[i] = byte(rand.Uint32())
	}
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		panic(err)
	}
	if !sick {
		return b.Bytes()
	}
	const end = 12 // the length of the last chunk
	body, tail := b.Bytes()[:b.Len()-end], b.Bytes()[b.Len()-end:]
	remark := fmt.Appendf(nil, "tEXtComment\x00%s", clamtest.Virus)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(remark)-4))
	chunk = binary.BigEndian.AppendUint32(append(chunk, remark...), crc32.ChecksumIEEE(remark))
	return bytes.Join([][]byte{body, chunk, tail}, nil)
}
