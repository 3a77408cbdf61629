package receipt

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/values/checkpoint"
	"github.com/lineproof/lineproof/internal/values/logentry"
)

// SupplyForm is the name of the format of receipts of supplied files.
const SupplyForm = "lineproof supply receipt 1"

// SupplyStatement is in every receipt of a file: what it means, in words.
const SupplyStatement = "This receipt proves that the service applied this file, and whose it was. It does not prove that what the file says is true."

const supplyName = "lineproof supply 1\n"

// ErrSupply reports a receipt of a file whose entry does not have what was supplied.
var ErrSupply = errors.New("receipt: what was supplied is not in the canonical encoding")

// SupplyReceipt is the receipt of a file that an operator supplied, as it is sent. Only the
// supplier gets it: the log has nothing by which others could recognise the file.
type SupplyReceipt struct {
	Form      string `json:"form"`
	Statement string `json:"statement"`
	Supply    Bytes  `json:"supply"` // in its canonical encoding, with the nonce; see docs/reference/receipt.md
	At        int64  `json:"at"`     // the time of the entry, in milliseconds since 1970
	Proof     string `json:"proof"`  // as in [Receipt]
}

// Supplied has the facts that the receipt of a file proves.
type Supplied struct {
	InLog

	Import   string // its id
	Number   int64  // of the supplier in the service
	Supplier string // the code of the network
	Kind     string // snapshot or events
	// AsOf is when a snapshot was correct, or up to when all events are reported; zero if the
	// supplier did not say it.
	AsOf    time.Time
	Rows    int64
	Refused int64             // rows that were refused
	File    [sha256.Size]byte // SHA-256 of the file, without compression
	At      time.Time         // when the entry was added to the log
}

// ParseSupply reads the receipt of a file, as strictly as [Parse]. It does not verify it.
func ParseSupply(text []byte) (*SupplyReceipt, error) {
	if len(text) > maxSize {
		return nil, ErrFormat
	}
	if bytes.HasPrefix(text, []byte(proofForm)) {
		return parseSupplyTlogProof(string(text))
	}
	var r SupplyReceipt
	err := decodeMembers(text, map[string]any{"form": &r.Form, "statement": &r.Statement, "supply": &r.Supply, "at": &r.At, "proof": &r.Proof})
	if err != nil || r.Form != SupplyForm {
		return nil, ErrFormat
	}
	return &r, nil
}

// Verify verifies the receipt of a file with a policy, as [Receipt.Verify]. Compare File
// with the hash of the file that you have.
func (r *SupplyReceipt) Verify(p *Policy) (*Supplied, error) {
	s := &Supplied{At: time.UnixMilli(r.At).UTC()}
	d := decoder{rest: r.Supply}
	s.read(&d)
	if d.failed || len(d.rest) > 0 {
		return nil, ErrSupply
	}
	var err error
	if s.InLog, err = p.find(r.Entry(), r.Proof); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Supplied) read(d *decoder) {
	d.name(supplyName)
	d.failed = d.failed || len(d.bytes()) != nonceSize
	s.Import, s.Number, s.Supplier, s.Kind = d.id(), d.number(), d.text(), d.text()
	if asOf := d.number(); asOf != 0 {
		s.AsOf = time.UnixMilli(asOf).UTC()
	}
	s.Rows, s.Refused = d.number(), d.number()
	d.failed = copy(s.File[:], d.bytes()) != len(s.File) || d.failed
}

// Entry returns the entry that the log has of the file.
func (r *SupplyReceipt) Entry() []byte {
	kind, body := logentry.EncodeBody(&logentry.Commitment{Hash: sha256.Sum256(r.Supply)})
	return (&logentry.Entry{Kind: kind, At: time.UnixMilli(r.At), Body: body}).Encode()
}

// TlogProof returns the receipt in the form of c2sp.org/tlog-proof. Its line extra has the
// entry and what was supplied.
func (r *SupplyReceipt) TlogProof() string {
	return proofForm + extraPrefix + base64.StdEncoding.EncodeToString(append(r.Entry(), r.Supply...)) + "\n" + strings.TrimPrefix(r.Proof, proofForm)
}

// parseSupplyTlogProof is the reverse of [SupplyReceipt.TlogProof], and accepts no other
// spelling.
func parseSupplyTlogProof(text string) (*SupplyReceipt, error) {
	line, proof, _ := strings.Cut(strings.TrimPrefix(text, proofForm), "\n")
	encoded, isExtra := strings.CutPrefix(line, extraPrefix)
	extra, err := checkpoint.Decode(encoded)
	if err != nil || !isExtra || len(extra) < logentry.CommitmentSize {
		return nil, ErrFormat
	}
	entry, err := logentry.Decode(extra[:logentry.CommitmentSize])
	if err != nil || entry.Kind != logentry.Supply || entry.At.UnixMilli() < 0 || entry.At.UnixMilli() > maxNumber {
		return nil, ErrFormat
	}
	r := &SupplyReceipt{Form: SupplyForm, Statement: SupplyStatement, Supply: extra[logentry.CommitmentSize:], At: entry.At.UnixMilli(), Proof: proofForm + proof}
	if r.TlogProof() != text {
		return nil, ErrFormat
	}
	return r, nil
}
