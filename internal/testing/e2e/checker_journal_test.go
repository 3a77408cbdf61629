package e2e_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// entryRow is a row of the journal, in the order in which it is selected.
type entryRow struct {
	RequestID                                                       uuid.UUID
	At                                                              time.Time
	Epoch, N                                                        int64
	Idx                                                             int32
	Type                                                            string
	Entity, Key                                                     uuid.UUID
	Mode, Purpose, PurposeText, Status, Reason, MobileNetwork       string
	LineVersion                                                     int64
	PolicyVersion, PlanVersion, Rules                               int32
	Coverage                                                        []byte
	Number                                                          int64
	PhoneNumber, Correlator, ExternalID, OnBehalfOf, Options, Extra string
	Nonce, Hash                                                     []byte
}

// whole returns the record in the form that the journal encodes.
func (r *entryRow) whole() record.Entry {
	e := record.Entry{
		RequestID: r.RequestID, At: r.At, Type: r.Type, Entity: r.Entity, Key: r.Key, Mode: r.Mode, Purpose: r.Purpose, PurposeText: r.PurposeText,
		Status: r.Status, Reason: r.Reason, MobileNetwork: r.MobileNetwork, LineVersion: r.LineVersion, PolicyVersion: r.PolicyVersion,
		PlanVersion: r.PlanVersion, Rules: r.Rules, Personal: record.Personal{
			Number: r.Number, PhoneNumber: r.PhoneNumber, Correlator: r.Correlator, ExternalID: r.ExternalID, OnBehalfOf: r.OnBehalfOf,
			Options: r.Options, Extra: r.Extra,
		},
	}
	copy(e.Coverage[:], r.Coverage)
	copy(e.Nonce[:], r.Nonce)
	return e
}

// leaf is what the check of a batch needs of a record.
type leaf struct {
	batch batchKey
	idx   int32
	at    int64
	hash  [32]byte
}

type batchRow struct {
	Node     string
	Epoch, N int64
	At       time.Time
	Count    int32
	Root     []byte
}

// batchKey identifies a batch: an epoch belongs to one start of one node.
type batchKey struct{ epoch, n int64 }

func (k batchKey) compare(other batchKey) int {
	return cmp.Or(cmp.Compare(k.epoch, other.epoch), cmp.Compare(k.n, other.n))
}

// journal checks the records: each answer has one record, with the same content;
// there is no record without a request; every record matches its hash and every
// batch its records. It keeps little of each record, because there may be
// millions.
func (c *checker) journal(ctx context.Context, q querier) error {
	list := c.asked
	if list == nil {
		list = ofBook(c.book)
	}
	for i := range list.list {
		list.list[i].records = 0
	}
	var leaves []leaf
	var ids []uuid.UUID
	rows, err := q.Query(ctx, `SELECT `+journaltest.Fields+` FROM journal_entry`)
	if err != nil {
		return fmt.Errorf("e2e: check: %w", err)
	}
	defer rows.Close()
	var r entryRow
	into := []any{
		&r.RequestID, &r.At, &r.Epoch, &r.N, &r.Idx, &r.Type, &r.Entity, &r.Key, &r.Mode, &r.Purpose, &r.PurposeText, &r.Status, &r.Reason, &r.MobileNetwork,
		&r.LineVersion, &r.PolicyVersion, &r.PlanVersion, &r.Rules, &r.Coverage, &r.Number, &r.PhoneNumber, &r.Correlator, &r.ExternalID, &r.OnBehalfOf,
		&r.Options, &r.Extra, &r.Nonce, &r.Hash,
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return fmt.Errorf("e2e: check: %w", err)
		}
		l := leaf{batch: batchKey{r.Epoch, r.N}, idx: r.Idx, at: r.At.UnixMicro()}
		copy(l.hash[:], r.Hash)
		leaves, ids = append(leaves, l), append(ids, r.RequestID)
		c.record(list, &r)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("e2e: check: %w", err)
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	for i := 1; i < len(ids); i++ {
		c.want(ids[i] != ids[i-1], duplicate, "request id %s stands more than once in the journal", ids[i])
	}
	for id, i := range list.at {
		a := &list.list[i]
		c.want(a.records <= 1, duplicate, "question %s is in the journal %d times", correlator(id), a.records)
		c.want(a.outcome != okay || a.records > 0, missing, "question %s was answered and is not in the journal", correlator(id))
	}
	batches, err := rowsOf[batchRow](ctx, q, `SELECT node, epoch, n, at, count, root FROM journal_batch`)
	if err != nil {
		return err
	}
	c.batches(batches, leaves)
	return nil
}

// record checks one record against the request that it answers.
func (c *checker) record(list *requestLog, r *entryRow) {
	a, name := list.find(r.Correlator)
	if a == nil {
		c.want(false, phantom, "record %s answers a question that nobody asked", r.RequestID)
		return
	}
	a.records++
	status, network, version := c.world.expected(a.number)
	c.want(c.may(a.outcome), phantom, "question %s ended as %s and has a record", name, a.outcome)
	// During a fault the key may have been accepted from the cache; the record says so.
	asked := r.Options == "" || r.Options == "gate=grace"
	c.want(r.Entity == c.world.bank.ID && r.Key == c.world.key.ID && r.Mode == "live" && r.PurposeText == "kyc" && asked && r.Extra == "",
		altered, "the record of question %s names somebody else, or says more than was asked", name)
	c.want(r.Number == a.number && r.PhoneNumber == a.sent, altered, "the record of question %s has another number", name)
	if r.Status != status || r.MobileNetwork != network || r.LineVersion != version || r.PolicyVersion != 1 || r.PlanVersion != 1 {
		c.want(false, altered, "the record of question %s has an answer that the lines do not give: %s %s %d, policy %d, plan %d", name,
			r.Status, r.MobileNetwork, r.LineVersion, r.PolicyVersion, r.PlanVersion)
	}
	if a.outcome == okay {
		c.want(r.RequestID == a.requestID && r.At.UnixMicro() == a.at*1000 && r.PhoneNumber == a.phone && r.Status == a.status && r.MobileNetwork == a.network,
			altered, "the record of question %s is not what the caller was told", name)
	}
	at, ok := record.TimeOf(r.RequestID)
	c.want(ok && at.Equal(r.At), altered, "the record of question %s has another time than its id", name)
	whole := r.whole()
	hash := whole.Hash()
	c.want(bytes.Equal(hash[:], r.Hash) && len(r.Nonce) == len(whole.Nonce), altered, "the record of question %s does not match its hash", name)
}

// batches checks that every batch has the number of records in its row, and that
// every record has a batch.
func (c *checker) batches(batches []batchRow, leaves []leaf) {
	slices.SortFunc(leaves, func(a, b leaf) int { return cmp.Or(a.batch.compare(b.batch), cmp.Compare(a.idx, b.idx)) })
	key := func(b *batchRow) batchKey { return batchKey{b.Epoch, b.N} }
	slices.SortFunc(batches, func(a, b batchRow) int { return key(&a).compare(key(&b)) })
	stray := func(l []leaf) { c.want(len(l) == 0, altered, "%d records have no batch, or more than one", len(l)) }
	for i := range batches {
		b := &batches[i]
		c.want(i == 0 || key(b) != key(&batches[i-1]), duplicate, "batch %v stands twice", key(b))
		from := 0
		for from < len(leaves) && leaves[from].batch.compare(key(b)) < 0 {
			from++
		}
		to := from
		for to < len(leaves) && leaves[to].batch == key(b) {
			to++
		}
		stray(leaves[:from])
		c.batch(b, leaves[from:to])
		leaves = leaves[to:]
	}
	stray(leaves)
}

// batch checks one batch against its records.
func (c *checker) batch(b *batchRow, of []leaf) {
	key := batchKey{b.Epoch, b.N}
	hashes := make([][]byte, len(of))
	inOrder := true
	for i := range of {
		hashes[i] = of[i].hash[:]
		inOrder = inOrder && int(of[i].idx) == i
	}
	c.want(strings.HasPrefix(b.Node, nodeName), altered, "batch %v was written by another node", key)
	c.want(int(b.Count) == len(of) && inOrder, altered, "batch %v says %d records and has %d, or their order has gaps", key, b.Count, len(of))
	c.want(len(of) > 0 && of[0].at == b.At.UnixMicro(), altered, "batch %v has another time than its first record", key)
	root, err := merkle.Root(hashes)
	c.want(err == nil && bytes.Equal(root, b.Root), altered, "batch %v does not fit its root", key)
}
