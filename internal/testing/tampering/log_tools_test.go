package tampering_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/evidence/logkey"
	"github.com/lineproof/lineproof/internal/evidence/witness"
	"github.com/lineproof/lineproof/internal/values/checkpoint"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
	"github.com/lineproof/lineproof/receipt"
)

// logRow is a row of log_entry.
type logRow struct {
	At       time.Time
	Kind     int16
	Epoch, N *int64
	Entry    []byte
}

func (a *attack) log() []logRow {
	return all[logRow](a, `SELECT at, kind, epoch, n, entry FROM log_entry ORDER BY idx`)
}

// rowOf returns the row of an entry about a batch.
func rowOf(entry []byte) logRow {
	b := got(logentry.DecodeBatch(entry))
	return logRow{b.At, int16(logentry.Answers), &b.Epoch, &b.N, entry}
}

// indexOf returns where a batch is in the log.
func indexOf(rows []logRow, b batch) int {
	return slices.IndexFunc(rows, func(r logRow) bool { return r.Epoch != nil && *r.Epoch == b.Epoch && *r.N == b.N })
}

// rewrite replaces the log in the database: entries, checkpoints and head.
func (a *attack) rewrite(rows []logRow) {
	a.exec(`DELETE FROM log_entry`)
	a.may(`ALTER TABLE log_entry DROP CONSTRAINT IF EXISTS log_entry_epoch_n_at_key`)
	tree := &merkle.Tree{}
	var sizes []int64
	var roots [][]byte
	got(a.pool.CopyFrom(a.ctx, pgx.Identifier{"log_entry"}, []string{"idx", "at", "kind", "epoch", "n", "entry"}, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		r := &rows[i]
		tree.Add(r.Entry)
		root := tree.Root()
		sizes, roots = append(sizes, int64(i+1)), append(roots, root[:])
		return []any{int64(i), r.At, r.Kind, r.Epoch, r.N, r.Entry}, nil
	})))
	a.exec(`UPDATE log_checkpoint c SET root = r.root FROM unnest($1::bigint[], $2::bytea[]) r (size, root) WHERE r.size = c.size`, sizes, roots)
	root := tree.Root()
	a.may(`DELETE FROM log_checkpoint WHERE size > $1`, len(rows))
	a.may(`INSERT INTO log_checkpoint (size, root, at) VALUES ($1, $2, now()) ON CONFLICT DO NOTHING`, len(rows), root[:])
	a.exec(`UPDATE log_head SET size = $1, edge = $2, root = $3`, len(rows), tree.Edge(), root[:])
}

// tileFile returns the file of a tile.
func (w *world) tileFile(t merkle.Tile) string { return w.blob("log", t.Key(origin)) }

// blob returns the file of a key.
func (w *world) blob(dir, key string) string {
	digits := strings.ReplaceAll(key, "-", "")
	return filepath.Join(w.dir, dir, digits[30:], digits[28:30], key)
}

// retile writes all tiles of a log anew.
func (a *attack) retile(rows []logRow) {
	for _, file := range a.files("log") {
		ensure(os.Remove(file))
	}
	put := func(t merkle.Tile, content []byte) error {
		file := a.tileFile(t)
		ensure(os.MkdirAll(filepath.Dir(file), 0o700))
		return os.WriteFile(file, content, 0o600)
	}
	w := got(merkle.ResumeTiles(0, nil))
	for _, r := range rows {
		ensure(w.Add(r.Entry, put))
	}
	ensure(w.Flush(put))
}

// tree returns the tree of a log with all of its hashes.
func treeOf(rows []logRow) (tlog.Tree, tlog.HashReader) {
	var stored hashes
	for i, r := range rows {
		stored = append(stored, got(tlog.StoredHashes(int64(i), r.Entry, stored))...)
	}
	return tlog.Tree{N: int64(len(rows)), Hash: got(tlog.TreeHash(int64(len(rows)), stored))}, stored
}

// hashes are the hashes of a tree as package tlog stores them.
type hashes []tlog.Hash

// ReadHashes implements tlog.HashReader.
func (h hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, n := range indexes {
		found[i] = h[n]
	}
	return found, nil
}

// sign signs a log with its own key.
func (a *attack) sign(rows []logRow) string {
	tree, _ := treeOf(rows)
	return got(a.key.SignCheckpoint(tree.N, tree.Hash[:]))
}

// ask asks both witnesses to sign a log, and returns the note with what they signed.
func (a *attack) ask(rows []logRow) string {
	note := a.sign(rows)
	signed := []string{note}
	tree, hashes := treeOf(rows)
	for _, url := range a.policy.Witnesses() {
		old := int64(0)
		for range 2 { // the first answer says where the witness is
			body := []string{fmt.Sprintf("old %d", old)}
			if old > 0 && old < tree.N {
				for _, h := range got(tlog.ProveTree(tree.N, old, hashes)) {
					body = append(body, h.String())
				}
			}
			status, answer := post(url+"/add-checkpoint", strings.Join(append(body, "", note), "\n"))
			if status == http.StatusOK {
				signed = append(signed, answer)
			}
			if status != http.StatusConflict {
				break
			}
			old = got(strconv.ParseInt(strings.TrimSpace(answer), 10, 64))
		}
	}
	return strings.Join(signed, "")
}

// post returns how a witness answers.
func post(url, body string) (status int, answer string) {
	res, err := http.Post(url, "text/plain", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	defer res.Body.Close()
	return res.StatusCode, string(got(io.ReadAll(res.Body)))
}

// bribe makes a witness forget everything and sign what it is given.
func (a *attack) bribe(i int) {
	dir := filepath.Join(a.dir, fmt.Sprintf("bribed%d", i))
	ensure(os.MkdirAll(dir, 0o700))
	w := got(witness.Open(a.witnesses[i], []string{a.key.Verifier()}, dir))
	a.handle(i+1, w.Handler(slog.New(slog.DiscardHandler)))
}

// show publishes a note as the newest checkpoint.
func (a *attack) show(note string) {
	_, tree, err := checkpoint.Parse(note)
	ensure(err)
	a.exec(`UPDATE log_published SET note = $1, published = $2, written = $2`, note, tree.N)
}

// fork is rewrite, retile and a new signature.
func (a *attack) fork(rows []logRow) {
	a.rewrite(rows)
	a.retile(rows)
	a.show(a.sign(rows))
}

// appended adds entries in the proper way: witnesses sign them.
func (a *attack) appended(entries ...logRow) {
	rows := append(a.log(), entries...)
	a.rewrite(rows)
	a.retile(rows)
	a.show(a.ask(rows))
}

// text returns the text of a signed note and its signatures.
func text(note string) (body string, signatures []string) {
	body, rest, _ := strings.Cut(note, "\n\n")
	return body + "\n", strings.SplitAfter(strings.TrimSuffix(rest, "\n"), "\n")
}

func (a *attack) newest() string { return one[string](a, `SELECT note FROM log_published`) }

// seenAt returns a note as it would be if both witnesses had seen it at another time.
func (a *attack) seenAt(note string, at time.Time) string {
	body, signatures := text(note)
	to := []string{body, strings.TrimSuffix(signatures[0], "\n")}
	for i, key := range a.secrets {
		seconds := uint64(at.Unix())
		id := got(hex.DecodeString(strings.Split(a.witnesses[i].Verifier(), "+")[1]))
		raw := append(binary.BigEndian.AppendUint64(id, seconds), got(key.Sign(receipt.CosignedMessage(seconds, []byte(body))))...)
		to = append(to, fmt.Sprintf("\u2014 %s %s", key.Name(), base64.StdEncoding.EncodeToString(raw)))
	}
	return strings.Join(to, "\n") + "\n"
}

// forgedProof returns the proof of a receipt for an entry of a log.
func forgedProof(rows []logRow, index int, note string) string {
	tree, hashes := treeOf(rows)
	var b bytes.Buffer
	fmt.Fprintf(&b, "c2sp.org/tlog-proof@v1\nindex %d\n", index)
	for _, h := range got(tlog.ProveRecord(tree.N, int64(index), hashes)) {
		fmt.Fprintln(&b, h.String())
	}
	return b.String() + "\n" + note
}

// otherKey returns a key under the name of the log that nobody knows.
func (a *attack) otherKey() *logkey.Key {
	file := filepath.Join(a.dir, "other-key")
	ensure(logkey.Create(file))
	return got(logkey.Open(a.ctx, file, origin))
}
