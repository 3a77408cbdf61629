package receipt

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"
	"unicode/utf8"
)

// Record is the record of an answer.
type Record struct {
	RequestID     string
	At            time.Time
	Type          string // of the question: number
	Entity        string // the organisation that asked
	Key           string // its API key
	Mode          string // live or test
	Purpose       string
	PurposeText   string
	Status        string
	Reason        string
	MobileNetwork string
	LineVersion   int64
	PolicyVersion int64
	PlanVersion   int64
	Rules         int64
	Coverage      []byte
	Hash          [sha256.Size]byte // of the record

	// Erased says that the personal part was erased by law, so that the fields below are
	// empty. What is above is proven all the same.
	Erased      bool
	Number      int64 // E.164 without the plus sign
	PhoneNumber string
	Correlator  string
	ExternalID  string
	OnBehalfOf  string
	Options     string
	Extra       string // what was answered beyond the five fields, as JSON
}

const (
	publicName   = "lineproof record 1\n"
	personalName = "lineproof personal part 1\n"
	nonceSize    = 16
)

// ErrRecord reports a record that is not in the canonical encoding.
var ErrRecord = errors.New("receipt: the record is not in the canonical encoding")

// ReadRecord decodes the record, and returns it if it is in the batch of the receipt. That
// proves nothing about the batch.
func (r *Receipt) ReadRecord() (Record, error) {
	rec, hash, err := r.record()
	if err == nil {
		err = r.checkBatch(&rec, hash)
	}
	rec.Hash = hash
	return rec, err
}

// record decodes both parts, and returns the hash of the record.
func (r *Receipt) record() (rec Record, hash [sha256.Size]byte, err error) {
	d := decoder{rest: r.Public}
	rec.readPublic(&d)
	if d.failed || len(d.rest) > 0 {
		return rec, hash, ErrRecord
	}
	inner := r.PersonalHash
	switch {
	case r.Personal != nil && r.PersonalHash != nil:
		return rec, hash, ErrRecord
	case r.Personal != nil:
		if err := rec.readPersonal(r.Personal); err != nil {
			return rec, hash, err
		}
		sum := sha256.Sum256(r.Personal)
		inner = sum[:]
	case len(inner) != sha256.Size:
		return rec, hash, ErrRecord
	default:
		rec.Erased = true
	}
	return rec, sha256.Sum256(append(append([]byte{}, r.Public...), inner...)), nil
}

// readPublic decodes the public part.
func (rec *Record) readPublic(d *decoder) {
	d.name(publicName)
	rec.RequestID = d.id()
	rec.At = time.UnixMilli(d.number()).UTC()
	rec.Type = d.text()
	rec.Entity, rec.Key = d.id(), d.id()
	for _, text := range []*string{&rec.Mode, &rec.Purpose, &rec.PurposeText, &rec.Status, &rec.Reason, &rec.MobileNetwork} {
		*text = d.text()
	}
	for _, number := range []*int64{&rec.LineVersion, &rec.PolicyVersion, &rec.PlanVersion, &rec.Rules} {
		*number = d.number()
	}
	rec.Coverage = d.bytes()
}

// publicSize returns the length of the public part at the beginning of bytes, or -1.
func publicSize(of []byte) int {
	var rec Record
	d := decoder{rest: of}
	if rec.readPublic(&d); d.failed {
		return -1
	}
	return len(of) - len(d.rest)
}

// readPersonal decodes the personal part, which the nonce follows.
func (rec *Record) readPersonal(part []byte) error {
	d := decoder{rest: part}
	d.name(personalName)
	rec.Number = d.number()
	for _, text := range []*string{&rec.PhoneNumber, &rec.Correlator, &rec.ExternalID, &rec.OnBehalfOf, &rec.Options, &rec.Extra} {
		*text = d.text()
	}
	if d.failed || len(d.rest) != nonceSize {
		return ErrRecord
	}
	return nil
}

// decoder reads fields, each of which has its length before it.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) name(want string) {
	if len(d.rest) < len(want) || string(d.rest[:len(want)]) != want {
		d.failed = true
		return
	}
	d.rest = d.rest[len(want):]
}

func (d *decoder) bytes() []byte {
	const length = 4
	if d.failed || len(d.rest) < length {
		d.failed = true
		return nil
	}
	n := int(binary.BigEndian.Uint32(d.rest))
	if len(d.rest)-length < n {
		d.failed = true
		return nil
	}
	field := d.rest[length : length+n]
	d.rest = d.rest[length+n:]
	return field
}

func (d *decoder) text() string {
	b := d.bytes()
	d.failed = d.failed || !utf8.Valid(b)
	return string(b)
}

func (d *decoder) number() int64 {
	b := d.bytes()
	if d.failed = d.failed || len(b) != 8; d.failed {
		return 0
	}
	n := binary.BigEndian.Uint64(b)
	if d.failed = n > maxNumber; d.failed {
		return 0
	}
	return int64(n) //nolint:gosec // it is not larger than maxNumber
}

func (d *decoder) id() string {
	b := d.bytes()
	if d.failed = d.failed || len(b) != 16; d.failed {
		return ""
	}
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
