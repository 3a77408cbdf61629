// Package archivefile writes and reads the files of an archived day of the journal:
// parts with the records, a file of filters by which a search finds the parts that have a
// number, and a manifest that lists them with their hashes.
// docs/reference/journal-record.md describes every byte.
package archivefile

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/record"
)

// Format names the format of an archive. A change of the format gets a new
// name. docs/reference/journal-record.md describes it.
const Format = "lineproof journal archive 2"

// TimeFormat is how an archive writes a time: whole milliseconds.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// Manifest lists the files of an archived day with their hashes.
type Manifest struct {
	Form    string `json:"form"`
	Day     string `json:"day"`
	Batches int64  `json:"batches"`
	Entries int64  `json:"entries"`
	Logged  int64  `json:"logged"` // batches that have an index in the public log
	First   string `json:"first"`  // times of the first and the last record; empty if there is none
	Last    string `json:"last"`
	Root    string `json:"root"` // Merkle root over the roots of the batches, in order
	Parts   []Part `json:"parts"`
	Filters File   `json:"filters"` // the Bloom filters of the parts, one after the other
}

// File is a file of an archived day that is not a part.
type File struct {
	Key    string `json:"key"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Part is one file of an archived day.
type Part struct {
	Key     string `json:"key"`
	SHA256  string `json:"sha256"` // of the stored file
	Bytes   int64  `json:"bytes"`
	Batches int64  `json:"batches"`
	Entries int64  `json:"entries"`
	Logged  int64  `json:"logged"`
	First   string `json:"first"`
	Last    string `json:"last"`
	Erased  int64  `json:"erased"` // records of live keys whose number is erased, so that it is in no filter
	// The place in the file of filters of the filter of the numbers of its live records.
	FilterAt    int64 `json:"filterAt"`
	FilterBytes int64 `json:"filterBytes"`
}

// Batch is a batch as it was read: its row, and its entries in order.
type Batch struct {
	BatchKey

	Found   bool // the row exists; otherwise only entries refer to it
	Node    string
	At      time.Time
	Count   int
	Root    []byte
	Xact    string
	Log     int64 // its index in the public log, or NotLogged
	Entries []Entry
}

// NotLogged stands for the index of a batch that the public log does not have: it is from
// before the log was turned on.
const NotLogged = -1

// BatchKey identifies a batch: an epoch belongs to one start of one node.
type BatchKey struct{ Epoch, N int64 }

// Compare orders keys.
func (k BatchKey) Compare(l BatchKey) int {
	return cmp.Or(cmp.Compare(k.Epoch, l.Epoch), cmp.Compare(k.N, l.N))
}

// Entry is an entry as it was read, with its stored hash.
type Entry struct {
	record.Entry

	Idx        int
	StoredHash []byte
}

// Line is a line of a part: its header, a batch, or an entry of the
// preceding batch.
type Line struct {
	Head  *head      `json:"archive,omitzero"`
	Batch *batchLine `json:"batch,omitzero"`
	Entry *EntryLine `json:"entry,omitzero"`
}

type head struct {
	Form string `json:"form"`
	Day  string `json:"day"`
	Part int    `json:"part"`
}

type batchLine struct {
	Node  string `json:"node"`
	Epoch int64  `json:"epoch"`
	N     int64  `json:"n"`
	At    string `json:"at"`
	Count int    `json:"count"`
	Root  string `json:"root"`
	Xact  string `json:"xact"`
	Log   int64  `json:"log"`
}

// EntryLine is a record in a line.
type EntryLine struct {
	RequestID     uuid.UUID `json:"requestId"`
	At            string    `json:"at"`
	Type          string    `json:"type"`
	Entity        uuid.UUID `json:"entity"`
	Key           uuid.UUID `json:"key"`
	Mode          string    `json:"mode"`
	Purpose       string    `json:"purpose"`
	PurposeText   string    `json:"purposeText"`
	Status        string    `json:"status"`
	Reason        string    `json:"reason"`
	MobileNetwork string    `json:"mobileNetwork"`
	LineVersion   int64     `json:"lineVersion"`
	PolicyVersion int32     `json:"policyVersion"`
	PlanVersion   int32     `json:"planVersion"`
	Rules         int32     `json:"rules"`
	Coverage      string    `json:"coverage"`
	Number        int64     `json:"number"`
	PhoneNumber   string    `json:"phoneNumber"`
	Correlator    string    `json:"correlator"`
	ExternalID    string    `json:"externalId"`
	OnBehalfOf    string    `json:"onBehalfOf"`
	Options       string    `json:"options"`
	Extra         string    `json:"extra"`
	Nonce         string    `json:"nonce"` // or, of an erased record, the hash of what was erased
	Hash          string    `json:"hash"`
}

// Line returns the line of a batch, without its entries.
func (b *Batch) Line() Line {
	return Line{Batch: &batchLine{
		Node: b.Node, Epoch: b.Epoch, N: b.N, At: b.At.Format(TimeFormat), Count: b.Count, Root: hex.EncodeToString(b.Root), Xact: b.Xact, Log: b.Log,
	}}
}

// Line returns the line of an entry.
func (e *Entry) Line() Line {
	return Line{Entry: &EntryLine{
		RequestID: e.RequestID, At: e.At.Format(TimeFormat), Type: e.Type, Entity: e.Entity, Key: e.Key, Mode: e.Mode, Purpose: e.Purpose,
		PurposeText: e.PurposeText, Status: e.Status, Reason: e.Reason, MobileNetwork: e.MobileNetwork, LineVersion: e.LineVersion,
		PolicyVersion: e.PolicyVersion, PlanVersion: e.PlanVersion, Rules: e.Rules, Coverage: hex.EncodeToString(e.Coverage[:]), Number: e.Number,
		PhoneNumber: e.PhoneNumber, Correlator: e.Correlator, ExternalID: e.ExternalID, OnBehalfOf: e.OnBehalfOf, Options: e.Options, Extra: e.Extra,
		Nonce: hex.EncodeToString(e.StoredNonce()), Hash: hex.EncodeToString(e.StoredHash),
	}}
}

// batch is the reverse of [Batch.Line].
func (b *batchLine) batch() (*Batch, error) {
	at, err := time.Parse(TimeFormat, b.At)
	root, rootErr := hex.DecodeString(b.Root)
	if err := errors.Join(err, rootErr); err != nil {
		return nil, fmt.Errorf("archivefile: read a batch of an archive: %w", err)
	}
	return &Batch{BatchKey: BatchKey{b.Epoch, b.N}, Found: true, Node: b.Node, At: at, Count: b.Count, Root: root, Xact: b.Xact, Log: b.Log}, nil
}

// entry is the reverse of [Entry.Line], without the position in the batch.
func (a *EntryLine) entry() (Entry, error) {
	at, err := time.Parse(TimeFormat, a.At)
	coverage, coverageErr := hex.DecodeString(a.Coverage)
	nonce, nonceErr := hex.DecodeString(a.Nonce)
	hash, hashErr := hex.DecodeString(a.Hash)
	if err := errors.Join(err, coverageErr, nonceErr, hashErr); err != nil {
		return Entry{}, fmt.Errorf("archivefile: read a record of an archive: %w", err)
	}
	e := Entry{StoredHash: hash, Entry: record.Entry{
		RequestID: a.RequestID, At: at, Type: a.Type, Entity: a.Entity, Key: a.Key, Mode: a.Mode, Purpose: a.Purpose, PurposeText: a.PurposeText,
		Status: a.Status, Reason: a.Reason, MobileNetwork: a.MobileNetwork, LineVersion: a.LineVersion, PolicyVersion: a.PolicyVersion,
		PlanVersion: a.PlanVersion, Rules: a.Rules, Personal: record.Personal{
			Number: a.Number, PhoneNumber: a.PhoneNumber, Correlator: a.Correlator, ExternalID: a.ExternalID, OnBehalfOf: a.OnBehalfOf,
			Options: a.Options, Extra: a.Extra,
		},
	}}
	if len(nonce) != len(e.Nonce) && len(nonce) != len(e.Inner) || copy(e.Coverage[:], coverage) != len(e.Coverage) {
		return Entry{}, errors.New("archivefile: read a record of an archive: the nonce or the coverage has a wrong length")
	}
	e.SetStoredNonce(nonce)
	return e, nil
}
