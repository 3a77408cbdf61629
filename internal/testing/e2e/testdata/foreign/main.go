// Command foreign reads a public log with the programs of others: torchwood's client and
// verifier of proofs, and Tessera's fsck. It is a module of its own, so that what these need
// never becomes a dependency of the service.
//
//	foreign read URL POLICY PROOF...   torchwood reads every entry, and verifies proofs
//	foreign fsck URL KEY               Tessera checks every tile, bundle and the checkpoint
//	foreign witness FILE KEY           adds a log to the database of litewitness
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"filippo.io/torchwood"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/tessera/api"
	"github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) >= 3 && args[0] == "read":
		return read(ctx, args[1], args[2], args[3:])
	case len(args) == 3 && args[0] == "fsck":
		return check(ctx, args[1], args[2])
	case len(args) == 3 && args[0] == "witness":
		return addLog(args[1], args[2])
	}
	return errors.New("usage: foreign read URL POLICY PROOF... | fsck URL KEY | witness FILE KEY")
}

// result is printed by read: what a reader of the log has seen.
type result struct {
	Size    int64
	Entries map[int64][]byte // those to which the proofs lead
}

// read reads the whole log, whose entries must lead to its signed checkpoint, and verifies
// that each proof, a file of c2sp.org/tlog-proof, is about the entry at its index.
func read(ctx context.Context, base, policyFile string, proofs []string) error {
	text, err := os.ReadFile(policyFile)
	if err != nil {
		return err
	}
	policy, err := torchwood.ParsePolicy(text)
	if err != nil {
		return fmt.Errorf("the policy: %w", err)
	}
	fetcher, err := torchwood.NewTileFetcher(base)
	if err != nil {
		return err
	}
	signed, err := fetcher.ReadEndpoint(ctx, "checkpoint")
	if err != nil {
		return err
	}
	checkpoint, _, err := torchwood.VerifyCheckpoint(signed, policy)
	if err != nil {
		return fmt.Errorf("the checkpoint: %w", err)
	}
	c, err := torchwood.NewClient(fetcher)
	if err != nil {
		return err
	}
	r := result{Entries: map[int64][]byte{}}
	all := map[int64][]byte{}
	for i, entry := range c.AllEntries(ctx, checkpoint.Tree, 0) {
		all[i] = entry
		r.Size++
	}
	if err := c.Err(); err != nil || r.Size != checkpoint.N {
		return fmt.Errorf("%d of %d entries were read: %w", r.Size, checkpoint.N, err)
	}
	for _, file := range proofs {
		proof, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		_, rest, _ := strings.Cut(string(proof), "\nindex ")
		number, _, _ := strings.Cut(rest, "\n")
		i, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return fmt.Errorf("%s: no index", file)
		}
		if err := torchwood.VerifyProof(policy, tlog.RecordHash(all[i]), proof); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		r.Entries[i] = all[i]
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// check reads the whole log with Tessera.
func check(ctx context.Context, base, key string) error {
	at, err := url.Parse(strings.TrimSuffix(base, "/") + "/")
	if err != nil {
		return err
	}
	fetcher, err := client.NewHTTPFetcher(at, http.DefaultClient)
	if err != nil {
		return err
	}
	v, err := note.NewVerifier(key)
	if err != nil {
		return err
	}
	return fsck.New(v.Name(), v, fetcher, leaves, fsck.Opts{N: 2}).Check(ctx)
}

// leaves returns the hashes of the entries of a bundle.
func leaves(bundle []byte) (all [][]byte, err error) {
	var b api.EntryBundle
	if err := b.UnmarshalText(bundle); err != nil {
		return nil, err
	}
	for _, entry := range b.Entries {
		all = append(all, rfc6962.DefaultHasher.HashLeaf(entry))
	}
	return all, nil
}

// addLog makes litewitness know a log that is empty so far. Its own program for that can't
// be built, because a module that it needs is not to be had.
func addLog(file, key string) error {
	v, err := note.NewVerifier(key)
	if err != nil {
		return err
	}
	db, err := sqlite.OpenConn(file, sqlite.OpenReadWrite, sqlite.OpenCreate)
	if err != nil {
		return err
	}
	empty, err := tlog.TreeHash(0, nil)
	if err != nil {
		return err
	}
	err = sqlitex.ExecScript(db, `
		CREATE TABLE log (origin TEXT PRIMARY KEY, tree_size INTEGER NOT NULL, tree_hash TEXT NOT NULL);
		CREATE TABLE key (origin TEXT NOT NULL, key TEXT NOT NULL, FOREIGN KEY(origin) REFERENCES log(origin));`)
	if err == nil {
		err = sqlitex.Execute(db, `INSERT INTO log VALUES (?, 0, ?)`, &sqlitex.ExecOptions{Args: []any{v.Name(), empty.String()}})
	}
	if err == nil {
		err = sqlitex.Execute(db, `INSERT INTO key VALUES (?, ?)`, &sqlitex.ExecOptions{Args: []any{v.Name(), key}})
	}
	return errors.Join(err, db.Close())
}
