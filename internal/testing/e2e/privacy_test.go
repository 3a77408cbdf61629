package e2e_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// Nothing that the public log shows says who asked about whom, or what was answered: no
// number, organisation, supplier, key, id of a request or status is in any of its bytes, in
// any of the encodings that are searched, and a guess can't be tested against them. The
// search finds one of each that is planted, and a guess with the salt is confirmed.
func TestPublicLogShowsNothing(t *testing.T) {
	answers := size(t, "LINEPROOF_E2E_ANSWERS", 2000)
	w := newFixture(t, pgtest.URL(t))
	w.decidingRows(t)
	key, file := logtest.NewKeyFile(t, logOrigin)
	p := start(t, w, "LINEPROOF_LOG_ORIGIN="+logOrigin, "LINEPROOF_LOG_KEY="+file)
	public := &publicBytes{name: map[string][]byte{}, before: map[string]bool{}}
	for _, path := range documents {
		public.before[string(download(t, p.public, path, ""))] = true
	}
	stop := make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() { // every checkpoint that anybody could see
		for {
			public.get(p.public, logPath+"checkpoint")
			select {
			case <-stop:
				return
			case <-time.After(500 * time.Millisecond):
			}
		}
	})
	w.askMany(t, p.public, answers)
	must(audit.ExtendChain(t.Context(), w.pool))(t)
	process.Until(t, "everything is published", func() bool {
		var done bool
		err := w.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM journal_batch) = (SELECT count(*) FROM log_entry WHERE kind = 1)
			AND NOT EXISTS (SELECT FROM log_pending) AND (SELECT published FROM log_published) = (SELECT size FROM log_head)`).Scan(&done)
		return err == nil && done
	})
	<-time.After(2 * time.Second) // a node serves a checkpoint for a second before it reads the next one
	close(stop)
	reading.Wait()
	public.get(p.public, logPath+"checkpoint")
	for _, path := range documents {
		public.get(p.public, path)
	}
	public.tiles(t, filepath.Join(w.data, "log"), p.public, key.Verifier())

	secrets := w.publicSecrets(t)
	var total int
	for _, content := range public.name {
		total += len(content)
	}
	for _, e := range encodings {
		needles := e.all(secrets)
		for _, hit := range public.search(needles) {
			t.Errorf("%s: %s", e.name, hit)
		}
		if len(needles) == 0 {
			t.Errorf("%s: nothing to search for", e.name)
			continue
		}
		planted := public.plant(e.name, needles)
		if len(planted.search(needles)) == 0 {
			t.Errorf("%s: what was planted is not found", e.name)
		}
	}
	tried, confirmed := w.guess(t, public)
	t.Logf("%d files and responses of %d bytes, %d entries of %d kinds; %d secrets of %d records in %d encodings: none found, one of each encoding found when planted. "+
		"%d guesses without the salt: none confirmed; with it, the %d in batches of one record are", len(public.name), total, w.count(t, `SELECT count(*) FROM log_entry`),
		w.count(t, `SELECT count(DISTINCT kind) FROM log_entry`), len(secrets.texts)+len(secrets.numbers)+len(secrets.ids), w.count(t, `SELECT count(*) FROM journal_entry`), len(encodings), tried, confirmed)
}

// decidingRows adds what the log has entries about besides answers: a file of an operator,
// the audit trail, an archive, and a version of the policy.
func (w *fixture) decidingRows(t *testing.T) {
	t.Helper()
	_, err := w.pool.Exec(t.Context(), `
		INSERT INTO supply_import (uid, network, supplier, kind, dry_run, source, state, rows, created_at, file_digest, supplier_name, updated_at)
			VALUES (gen_random_uuid(), 7, 3, 'events', false, 'api', 'applied', 4711, now(), sha256('file'), 'Seven', now());
		INSERT INTO audit (id, at, actor_kind, action, subject_id, entity_id) SELECT gen_random_uuid(), now() - interval '2 hours', 'operator', 'key.created', id, entity_id FROM api_key;
		INSERT INTO journal_archive (manifest, day, sha256, batches, entries, bytes, root, archived_at) VALUES (gen_random_uuid(), '2026-01-02', sha256('manifest'), 1, 150, 1, sha256('root'), now());`)
	if err != nil {
		t.Fatal(err)
	}
}

func (w *fixture) count(t *testing.T, sql string) (n int) {
	t.Helper()
	if err := w.pool.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// askMany asks about many different numbers: first one after the other, so that some
// batches have one record, then many at once.
func (w *fixture) askMany(t *testing.T, address string, answers int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	const alone = 50
	var left atomic.Int64
	left.Store(int64(answers - alone))
	ask := func(c *wire, rng *rand.Rand) {
		number := int64(firstLine) + rng.Int64N(1e7)
		if rng.IntN(4) == 0 {
			number = firstLine + rng.Int64N(knownLines) // answers of every kind
		}
		body := fmt.Appendf(nil, `{"phoneNumber":%q,"externalId":"customer %d"}`, spell(rng, number), rng.Int64())
		a, err := c.send(post(verifyPath, "application/json", body, "Authorization", "Bearer "+w.key.Text.Reveal(), "X-Correlator", "bank-"+strconv.FormatUint(serial.Add(1), 36)))
		if err != nil || a.status != http.StatusOK {
			t.Errorf("an answer: %d, %v", a.status, err)
			cancel()
		}
	}
	c := &wire{address: address}
	defer c.close()
	for range alone {
		ask(c, rand.New(rand.NewPCG(rand.Uint64(), 1)))
	}
	var workers sync.WaitGroup
	for range 48 {
		workers.Go(func() {
			c := &wire{address: address}
			defer c.close()
			rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				ask(c, rng)
			}
		})
	}
	workers.Wait()
}

// documents are public, too. They do not depend on answers: their words, such as
// "supported", are searched only if they have changed since before the first one.
var documents = []string{"/.well-known/lineproof-logs.json", "/.well-known/oauth-authorization-server"}

// publicBytes is everything that anybody can read, by its name.
type publicBytes struct {
	mu     sync.Mutex
	name   map[string][]byte
	before map[string]bool // what was public before the first answer
}

// get reads a path and keeps headers and body, under a name of its own if the body changed.
func (p *publicBytes) get(address, path string) {
	r, err := http.NewRequest(http.MethodGet, "http://"+address+path, http.NoBody)
	if err != nil {
		return
	}
	res, err := (&http.Client{Timeout: patience}).Do(r)
	if err != nil {
		return
	}
	defer res.Body.Close()
	var all bytes.Buffer
	_, _ = all.ReadFrom(res.Body)
	if res.StatusCode != http.StatusOK {
		return
	}
	if p.before[all.String()] {
		all.Reset()
	}
	_ = res.Header.Write(&all)
	p.mu.Lock()
	defer p.mu.Unlock()
	name := path
	for i := 1; p.name[name] != nil; i++ {
		name = path + " " + strconv.Itoa(i)
	}
	p.name[name] = all.Bytes()
}

// tiles reads every file of the store, and compares one that is served.
func (p *publicBytes) tiles(t *testing.T, dir, address, key string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, f fs.DirEntry, err error) error {
		if err != nil || !f.Type().IsRegular() {
			return err
		}
		p.name[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	size := openCheckpoint(t, download(t, address, logPath+"checkpoint", ""), key).N
	tile := merkle.Tile{Level: merkle.Bundle, Width: int(min(size, 256))}
	served := download(t, address, logPath+tile.Path(), "")
	for _, content := range p.name {
		if bytes.Equal(content, served) {
			return
		}
	}
	t.Error("a tile that is served is not among the files")
}

// guess tests guesses against what is public: records of which the attacker knows all but
// the salt. With the salt, those of batches with one record are confirmed.
func (w *fixture) guess(t *testing.T, public *publicBytes) (tried, confirmed int) {
	t.Helper()
	rows := must(w.pool.Query(t.Context(), `SELECT e.request_id FROM journal_entry e JOIN journal_batch b USING (epoch, n, at) ORDER BY b.count LIMIT 2000`))(t)
	ids := must(pgx.CollectRows(rows, pgx.RowTo[uuid.UUID]))(t)
	var guesses, withSalt []needle
	for _, id := range ids {
		e := must(journal.Get(t.Context(), w.pool, id))(t)
		personal, open := e.EncodePersonal(), e.EncodePublic()
		for _, salt := range [][]byte{nil, make([]byte, 16), []byte("0123456789abcdef")} {
			inner := sha256.Sum256(append(slices.Clip(personal), salt...))
			hash := sha256.Sum256(append(slices.Clip(open), inner[:]...))
			flat := sha256.Sum256(append(append(slices.Clip(open), personal...), salt...))
			for _, h := range [][32]byte{inner, hash, flat, leafHash(inner), leafHash(hash), leafHash(flat)} {
				guesses = append(guesses, needle{"a guess", string(h[:])})
			}
		}
		hash := leafHash(e.Hash())
		withSalt = append(withSalt, needle{id.String(), string(hash[:])})
	}
	for _, hit := range public.search(guesses) {
		t.Errorf("a guess is confirmed: %s", hit)
	}
	ones := w.count(t, `SELECT count(*) FROM journal_batch WHERE count = 1`)
	seen := map[string]bool{}
	for _, hit := range public.search(withSalt) {
		seen[strings.Fields(hit)[0]] = true
	}
	if ones == 0 || len(seen) != min(ones, len(ids)) {
		t.Errorf("with the salt, %d guesses are confirmed; %d batches have one record", len(seen), ones)
	}
	return len(guesses), len(seen)
}

// leafHash is the hash of a leaf of a tree (RFC 6962).
func leafHash(of [32]byte) [32]byte { return sha256.Sum256(append([]byte{0}, of[:]...)) }
