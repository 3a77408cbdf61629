// Package receipt verifies receipts of Lineproof: proofs that the service gave a certain
// answer at a certain time, and promises of such proofs. Verifying needs the receipt and the public key of the log, and
// nothing else: no network, and no trust in the service.
//
// A receipt states what suppliers had reported about a line by then. It is no certificate
// of identity.
package receipt

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/json/jsontext"
	jsonv2 "encoding/json/v2"
	"errors"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/values/checkpoint"
)

// Form is the name of the format. Another format would have another number.
const Form = "lineproof receipt 1"

// Statement is in every receipt: what it means, in words.
const Statement = "This receipt proves which answer was given and when. The answer states what suppliers had reported by then; it is no certificate of identity."

// maxSize bounds a receipt. A usual one has less than 3,000 bytes.
const maxSize = 1 << 20

// Receipt is a receipt as it is sent.
type Receipt struct {
	Form      string `json:"form"`
	Statement string `json:"statement"`
	// Public and Personal are the two parts of the record, in its canonical encoding; see
	// docs/reference/journal-record.md. The nonce follows the personal part. Of an erased
	// record only PersonalHash is left.
	Public       Bytes `json:"public"`
	Personal     Bytes `json:"personal,omitempty"`
	PersonalHash Bytes `json:"personalHash,omitempty"`
	Batch        Batch `json:"batch"`
	// Promise promises that the log will have the batch, in the receipt that comes with an
	// answer. Key certifies the key that has signed it. Both are signed notes.
	Promise string `json:"promise,omitempty"`
	Key     string `json:"key,omitempty"`
	// Proof proves that the log has the batch: c2sp.org/tlog-proof, with a signed checkpoint.
	Proof string `json:"proof,omitempty"`
}

// Batch is the batch in which the record was committed, with the record's place in its tree.
type Batch struct {
	Epoch int64   `json:"epoch"`
	N     int64   `json:"n"`
	At    int64   `json:"at"` // in milliseconds since 1970
	Count int32   `json:"count"`
	Index int64   `json:"index"`
	Path  []Bytes `json:"path"`
	Root  Bytes   `json:"root"`
}

// Bytes are written in base64, in the only spelling that there is.
type Bytes []byte

// MarshalText implements encoding.TextMarshaler.
func (b Bytes) MarshalText() ([]byte, error) { return base64.StdEncoding.AppendEncode(nil, b), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Bytes) UnmarshalText(text []byte) error {
	decoded, err := checkpoint.Decode(string(text))
	*b = decoded
	return err
}

// ErrFormat reports a text that is not a receipt.
var ErrFormat = errors.New("receipt: this is not a receipt that this version can read")

// Parse reads a receipt, as JSON or in the form of c2sp.org/tlog-proof. It does not verify it. Names of members are read in their only
// spelling, so that other verifiers read the same.
func Parse(text []byte) (*Receipt, error) {
	if len(text) > maxSize {
		return nil, ErrFormat
	}
	if bytes.HasPrefix(text, []byte(proofForm)) {
		return parseTlogProof(string(text))
	}
	var r Receipt
	var batch json.RawMessage
	err := decodeMembers(text, map[string]any{
		"form": &r.Form, "statement": &r.Statement, "public": &r.Public, "personal": &r.Personal, "personalHash": &r.PersonalHash, "batch": &batch,
		"promise": &r.Promise, "key": &r.Key, "proof": &r.Proof,
	}, "personal", "personalHash", "promise", "key", "proof")
	promised := r.Promise != "" && r.Key != "" && r.Proof == ""
	proven := r.Promise == "" && r.Key == "" && r.Proof != ""
	if err != nil || r.Form != Form || promised == proven {
		return nil, ErrFormat
	}
	b := &r.Batch
	err = decodeMembers(batch, map[string]any{
		"epoch": &b.Epoch, "n": &b.N, "at": &b.At, "count": &b.Count, "index": &b.Index, "path": &b.Path, "root": &b.Root,
	})
	if err != nil {
		return nil, ErrFormat
	}
	return &r, nil
}

// maxNumber is the largest number that every verifier can compute with.
const maxNumber = 1<<53 - 1

// checkNumber refuses a value that is a number in another spelling than the usual one, or
// is negative or too large.
func checkNumber(value json.RawMessage) error {
	if !strings.ContainsRune("-0123456789", rune(value[0])) {
		return nil
	}
	if n, err := checkpoint.ParseNumber(string(value)); err != nil || n > maxNumber {
		return ErrFormat
	}
	return nil
}

// decodeMembers reads the members of an object. Those that are optional may be missing, and
// there may be no others, nor the same one twice.
func decodeMembers(object []byte, into map[string]any, optional ...string) error {
	var members map[string]json.RawMessage
	if err := jsonv2.Unmarshal(object, &members, jsontext.AllowInvalidUTF8(true)); err != nil {
		return err
	}
	for name, value := range members {
		target, known := into[name]
		if !known || string(value) == "null" {
			return ErrFormat
		}
		if err := checkNumber(value); err != nil {
			return err
		}
		if err := json.Unmarshal(value, target); err != nil {
			return err
		}
	}
	for name := range into {
		if _, there := members[name]; !there && !slices.Contains(optional, name) {
			return ErrFormat
		}
	}
	return nil
}
