package e2e_test

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/journal"
)

// entryRow is a row of the journal, in the order in which it is selected.
type entryRow struct {
	RequestID                                   uuid.UUID
	At                                          time.Time
	Epoch, N                                    int64
	Idx                                         int32
	Entity, Key                                 uuid.UUID
	Mode, Purpose, Correlator                   string
	Number                                      int64
	PhoneNumber, Options, Status, MobileNetwork string
	LineVersion                                 int64
	PolicyVersion, PlanVersion                  int32
	Nonce, Hash                                 []byte
}

// allEntryFields names the columns of entryRow.
const allEntryFields = `request_id, at, epoch, n, idx, entity_id, key_id, mode, purpose, correlator, number, phone_number, options, status,
	mobile_network, line_version, policy_version, plan_version, nonce, hash`

// whole returns the record as the journal's encoding sees it.
func (r entryRow) whole() journal.Entry {
	return journal.Entry{
		RequestID: r.RequestID, At: r.At, Entity: r.Entity, Key: r.Key, Mode: r.Mode, Purpose: r.Purpose, Correlator: r.Correlator,
		Number: r.Number, PhoneNumber: r.PhoneNumber, Options: r.Options, Status: r.Status, MobileNetwork: r.MobileNetwork,
		LineVersion: r.LineVersion, PolicyVersion: r.PolicyVersion, PlanVersion: r.PlanVersion, Nonce: [16]byte(r.Nonce),
	}
}

type batchRow struct {
	Node     string
	Epoch, N int64
	At       time.Time
	Count    int32
	Root     []byte
}

// batchKey names a batch: an epoch belongs to one start of one node.
type batchKey struct{ epoch, n int64 }

// journal checks the records: each answer that was given is there once, as it
// was given; nothing is there that nobody asked; every record fits its hash and
// every batch its records.
func (c *checker) journal(ctx context.Context, q querier) error {
	rows, err := rowsOf[entryRow](ctx, q, `SELECT `+allEntryFields+` FROM journal_entry`)
	if err != nil {
		return err
	}
	batches, err := rowsOf[batchRow](ctx, q, `SELECT node, epoch, n, at, count, root FROM journal_batch`)
	if err != nil {
		return err
	}
	records := make(map[string]int)
	ids := make(map[uuid.UUID]int)
	members := make(map[batchKey][]entryRow)
	for _, r := range rows {
		records[r.Correlator]++
		ids[r.RequestID]++
		members[batchKey{r.Epoch, r.N}] = append(members[batchKey{r.Epoch, r.N}], r)
		c.record(r)
	}
	for id, n := range ids {
		c.want(n == 1, "request id %s stands %d times in the journal", id, n)
	}
	for id, e := range c.book {
		if e.sent.Asked == nil {
			continue
		}
		c.want(records[id] <= 1, "question %s is in the journal %d times", id, records[id])
		c.want(e.outcome() != okay || records[id] == 1, "question %s was answered and is in the journal %d times", id, records[id])
	}
	c.batches(batches, members)
	return nil
}

// record checks one record against the question that it answers.
func (c *checker) record(r entryRow) {
	e := c.book[r.Correlator]
	if e == nil || e.sent.Asked == nil {
		c.want(false, "record %s answers a question that nobody asked", r.RequestID)
		return
	}
	status, network, version := c.world.told(e.sent.Phone)
	name := e.sent.ID
	c.want(c.may(e.outcome()), "question %s ended as %s and has a record", name, e.outcome())
	c.want(r.Entity == c.world.bank.ID && r.Key == c.world.key.ID && r.Mode == "live" && r.Purpose == "kyc" && r.Options == "",
		"the record of question %s names somebody else", name)
	c.want(r.Number == e.sent.Phone && r.PhoneNumber == e.sent.Asked.PhoneNumber, "the record of question %s has another number", name)
	c.want(r.Status == status && r.MobileNetwork == network && r.LineVersion == version && r.PolicyVersion == 1 && r.PlanVersion == 1,
		"the record of question %s has an answer that the lines do not give: %s %s %d, policy %d, plan %d", name, r.Status, r.MobileNetwork, r.LineVersion, r.PolicyVersion, r.PlanVersion)
	if e.outcome() == okay {
		said := e.answered().Told
		c.want(r.RequestID.String() == said.RequestID && stamp(r.At) == said.VerificationTimestamp && r.PhoneNumber == said.PhoneNumber &&
			r.Status == said.Status && r.MobileNetwork == said.MobileNetwork, "the record of question %s is not what the caller was told", name)
	}
	at, err := journal.TimeOf(r.RequestID)
	c.want(err == nil && at.Equal(r.At), "the record of question %s has another time than its id", name)
	whole := r.whole()
	hash := whole.Hash()
	c.want(bytes.Equal(hash[:], r.Hash), "the record of question %s does not fit its hash", name)
}

// batches checks that every batch has the records it says it has, and every
// record a batch.
func (c *checker) batches(batches []batchRow, members map[batchKey][]entryRow) {
	seen := make(map[batchKey]bool)
	for _, b := range batches {
		key := batchKey{b.Epoch, b.N}
		c.want(!seen[key], "batch %v stands twice", key)
		seen[key] = true
		of := members[key]
		slices.SortFunc(of, func(a, b entryRow) int { return cmp.Compare(a.Idx, b.Idx) })
		hashes := make([][]byte, len(of))
		inOrder := true
		for i, r := range of {
			hashes[i] = r.Hash
			inOrder = inOrder && int(r.Idx) == i
		}
		c.want(b.Node == nodeName, "batch %v was written by another node", key)
		c.want(int(b.Count) == len(of) && inOrder, "batch %v says %d records and has %d, or their order has gaps", key, b.Count, len(of))
		c.want(len(of) > 0 && of[0].At.Equal(b.At), "batch %v has another time than its first record", key)
		root, err := journal.Root(hashes)
		c.want(err == nil && bytes.Equal(root, b.Root), "batch %v does not fit its root", key)
	}
	for key := range members {
		c.want(seen[key], "records of batch %v have no batch", key)
	}
}
