package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// ackMode is when a faulty server acknowledges a request.
type ackMode int

const (
	ackAfterCommit  ackMode = iota // after the commit; for a record that exists already, after one more commit
	ackBeforeCommit                // before the commit
	ackIfFound                     // a record that exists already is acknowledged at once
)

// faultyServer behaves like the service and writes its journal into the same
// tables, but acknowledges in its own ackMode. The checker must find which modes
// lose acknowledged answers.
type faultyServer struct {
	world  *fixture
	pool   *pgxpool.Pool
	manner ackMode
	epoch  int64
	n      atomic.Int64
}

// faultyServerName is the name under which faulty servers connect.
const faultyServerName = "lineproof-sham"

// faultyServerTimeout is how long a faulty server waits for a commit.
const faultyServerTimeout = 300 * time.Millisecond

// newFaultyServer starts a faulty server on the fixture and returns its address.
func newFaultyServer(t *testing.T, w *fixture, m ackMode) (address string) {
	t.Helper()
	ctx := context.Background()
	cfg := must(pgxpool.ParseConfig(w.url))(t)
	cfg.MaxConns = 16
	cfg.ConnConfig.RuntimeParams["application_name"] = faultyServerName
	s := &faultyServer{world: w, pool: must(pgxpool.NewWithConfig(ctx, cfg))(t), manner: m}
	t.Cleanup(s.pool.Close)
	if err := s.pool.QueryRow(ctx, `SELECT nextval('journal_epoch')`).Scan(&s.epoch); err != nil {
		t.Fatal(err)
	}
	ln := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	srv := &http.Server{Handler: s}
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(func() { _ = srv.Close() })
	return ln.Addr().String()
}

// ServeHTTP implements http.Handler.
func (s *faultyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q question
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		shamRefuse(w, http.StatusBadRequest)
		return
	}
	number, err := s.world.region.ParseMobile(q.PhoneNumber)
	if err != nil {
		shamRefuse(w, http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), faultyServerTimeout)
	defer cancel()
	name := r.Header.Get("X-Correlator")
	if s.manner == ackBeforeCommit {
		err = s.answerEarly(ctx, w, s.world.record(name, number.Int(), q.PhoneNumber))
	} else {
		err = s.answer(ctx, w, name, number.Int(), q.PhoneNumber)
	}
	if err != nil {
		shamRefuse(w, http.StatusServiceUnavailable)
	}
}

// answer records an answer and sends it. A repeated request gets the recorded
// answer.
func (s *faultyServer) answer(ctx context.Context, w http.ResponseWriter, name string, number int64, sent string) error {
	e := s.world.record(name, number, sent)
	err := s.pool.QueryRow(ctx, `SELECT request_id, at FROM journal_entry WHERE correlator = $1`, name).Scan(&e.RequestID, &e.At)
	switch {
	case err == nil && s.manner == ackAfterCommit:
		// The WAL is sequential: once a later commit is durable, so is the record. That
		// transaction must write something: COMMIT does not wait for one that has only
		// an id.
		_, err = s.pool.Exec(ctx, `SELECT pg_logical_emit_message(true, 'lineproof', 'fence')`)
	case errors.Is(err, pgx.ErrNoRows):
		err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return writeBatch(ctx, tx, s.epoch, s.n.Add(1), e) })
	}
	if err == nil {
		shamAnswer(w, e)
	}
	return err
}

// answerEarly answers when the record is written and not yet committed.
func (s *faultyServer) answerEarly(ctx context.Context, w http.ResponseWriter, e record.Entry) error {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if err := writeBatch(ctx, tx, s.epoch, s.n.Add(1), e); err != nil {
		return err
	}
	shamAnswer(w, e)
	_ = tx.Commit(ctx) // the answer is already sent
	return nil
}

func shamAnswer(w http.ResponseWriter, e record.Entry) {
	body := encode(map[string]any{"status": "Success", "statusCode": "200", "data": tell(e)})
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
	_ = http.NewResponseController(w).Flush()
}

func shamRefuse(w http.ResponseWriter, status int) {
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(`{"data":{"code":"SHAM"}}`))
}

// tell returns the response for a record.
func tell(e record.Entry) answerFields {
	return answerFields{e.PhoneNumber, e.Status, e.RequestID.String(), e.MobileNetwork, stamp(e.At)}
}

// record returns a record of the right answer.
func (w *fixture) record(name string, number int64, sent string) record.Entry {
	at := time.Now().UTC().Truncate(time.Millisecond)
	status, network, version := w.expected(number)
	return record.Entry{
		RequestID: record.NewRequestID(at), At: at, Entity: w.bank.ID, Key: w.key.ID, Type: "number", Mode: "live", Purpose: "other", PurposeText: "kyc",
		Status: status, MobileNetwork: network, LineVersion: version, PolicyVersion: 1, PlanVersion: 1, Rules: 1, Nonce: record.NewNonce(),
		Personal: record.Personal{Number: number, PhoneNumber: sent, Correlator: name},
	}
}

// writeBatch writes a batch as the journal does.
func writeBatch(ctx context.Context, tx pgx.Tx, epoch, n int64, entries ...record.Entry) error {
	rows, hashes := make([][]any, len(entries)), make([][]byte, len(entries))
	for i := range entries {
		e := &entries[i]
		hash := e.Hash()
		hashes[i] = hash[:]
		rows[i] = journaltest.Row(e, epoch, n, i)
	}
	root, err := merkle.Root(hashes)
	if err != nil {
		return fmt.Errorf("make a root: %w", err)
	}
	if _, err := tx.Exec(ctx, `INSERT INTO journal_batch (node, epoch, n, at, count, root) VALUES ($1, $2, $3, $4, $5, $6)`,
		nodeName, epoch, n, entries[0].At, len(entries), root); err != nil {
		return fmt.Errorf("write a batch: %w", err)
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"journal_entry"}, journaltest.Columns(), pgx.CopyFromRows(rows)); err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	return nil
}
