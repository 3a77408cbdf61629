package journal

import (
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// archiveForm names the form of an archive. A change of the form gets a new
// name. docs/reference/journal-record.md describes it.
const archiveForm = "lineproof journal archive 1"

// archiveTime is how an archive writes a moment: whole milliseconds.
const archiveTime = "2006-01-02T15:04:05.000Z"

// Manifest lists the files of an archived day, which it proves by their hashes.
type Manifest struct {
	Form    string `json:"form"`
	Day     string `json:"day"`
	Batches int64  `json:"batches"`
	Entries int64  `json:"entries"`
	First   string `json:"first"` // time of the first record, and of the last; empty when there is none
	Last    string `json:"last"`
	Root    string `json:"root"` // Merkle root over the roots of the batches, in order
	Parts   []Part `json:"parts"`
}

// Part is one file of an archived day.
type Part struct {
	Key     string `json:"key"`
	SHA256  string `json:"sha256"` // of the file as it lies there
	Bytes   int64  `json:"bytes"`
	Batches int64  `json:"batches"`
	Entries int64  `json:"entries"`
	First   string `json:"first"`
	Last    string `json:"last"`
}

// archiveLine is a line of a part: its head, a batch, or an entry of the batch
// before it.
type archiveLine struct {
	Head  *archiveHead  `json:"archive,omitzero"`
	Batch *archiveBatch `json:"batch,omitzero"`
	Entry *archiveEntry `json:"entry,omitzero"`
}

type archiveHead struct {
	Form string `json:"form"`
	Day  string `json:"day"`
	Part int    `json:"part"`
}

type archiveBatch struct {
	Node  string `json:"node"`
	Epoch int64  `json:"epoch"`
	N     int64  `json:"n"`
	At    string `json:"at"`
	Count int    `json:"count"`
	Root  string `json:"root"`
	Xact  string `json:"xact"`
}

type archiveEntry struct {
	RequestID     uuid.UUID `json:"requestId"`
	At            string    `json:"at"`
	Entity        uuid.UUID `json:"entity"`
	Key           uuid.UUID `json:"key"`
	Mode          string    `json:"mode"`
	Purpose       string    `json:"purpose"`
	Correlator    string    `json:"correlator"`
	Number        int64     `json:"number"`
	PhoneNumber   string    `json:"phoneNumber"`
	Options       string    `json:"options"`
	Status        string    `json:"status"`
	MobileNetwork string    `json:"mobileNetwork"`
	Extra         string    `json:"extra"`
	LineVersion   int64     `json:"lineVersion"`
	PolicyVersion int32     `json:"policyVersion"`
	PlanVersion   int32     `json:"planVersion"`
	Nonce         string    `json:"nonce"`
	Hash          string    `json:"hash"`
}

func (f *flush) line() archiveLine {
	return archiveLine{Batch: &archiveBatch{
		Node: f.node, Epoch: f.epoch, N: f.n, At: f.at.Format(archiveTime), Count: f.count, Root: hex.EncodeToString(f.root), Xact: f.xact,
	}}
}

func (e *kept) line() archiveLine {
	return archiveLine{Entry: &archiveEntry{
		RequestID: e.RequestID, At: e.At.Format(archiveTime), Entity: e.Entity, Key: e.Key, Mode: e.Mode, Purpose: e.Purpose,
		Correlator: e.Correlator, Number: e.Number, PhoneNumber: e.PhoneNumber, Options: e.Options, Status: e.Status,
		MobileNetwork: e.MobileNetwork, Extra: e.Extra, LineVersion: e.LineVersion, PolicyVersion: e.PolicyVersion, PlanVersion: e.PlanVersion,
		Nonce: hex.EncodeToString(e.Nonce[:]), Hash: hex.EncodeToString(e.hash),
	}}
}

// flush is the reverse of [flush.line].
func (b *archiveBatch) flush() (*flush, error) {
	at, err := time.Parse(archiveTime, b.At)
	root, rootErr := hex.DecodeString(b.Root)
	if err := errors.Join(err, rootErr); err != nil {
		return nil, fmt.Errorf("journal: read a batch of an archive: %w", err)
	}
	return &flush{place: place{b.Epoch, b.N}, found: true, node: b.Node, at: at, count: b.Count, root: root, xact: b.Xact}, nil
}

// kept is the reverse of [kept.line]. The place of an entry is where it stands
// behind its batch.
func (a *archiveEntry) kept(idx int) (kept, error) {
	at, err := time.Parse(archiveTime, a.At)
	nonce, nonceErr := hex.DecodeString(a.Nonce)
	hash, hashErr := hex.DecodeString(a.Hash)
	if err := errors.Join(err, nonceErr, hashErr); err != nil {
		return kept{}, fmt.Errorf("journal: read a record of an archive: %w", err)
	}
	e := kept{idx: idx, hash: hash, Entry: Entry{
		RequestID: a.RequestID, At: at, Entity: a.Entity, Key: a.Key, Mode: a.Mode, Purpose: a.Purpose, Correlator: a.Correlator, Number: a.Number,
		PhoneNumber: a.PhoneNumber, Options: a.Options, Status: a.Status, MobileNetwork: a.MobileNetwork, Extra: a.Extra,
		LineVersion: a.LineVersion, PolicyVersion: a.PolicyVersion, PlanVersion: a.PlanVersion,
	}}
	if copy(e.Nonce[:], nonce) != len(e.Nonce) {
		return kept{}, errors.New("journal: read a record of an archive: the nonce is too short")
	}
	return e, nil
}
