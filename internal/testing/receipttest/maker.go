package receipttest

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/receipt"
)

// Origin is the name of the log.
const Origin = "lineproof.example/log/0/2027"

// The bytes that stand for an algorithm in a key of a note.
const (
	ofLog     = 1
	ofWitness = 4
)

// Signer is a key of a log or of a witness.
type Signer struct {
	name      string
	algorithm byte
	key       ed25519.PrivateKey
}

// Maker makes receipts, the same ones from the same seed.
type Maker struct {
	rand      *rand.Rand
	Log       *Signer
	Witnesses []*Signer // north, east and south
}

// NewMaker returns a maker of receipts.
func NewMaker(seed uint64) *Maker {
	m := &Maker{rand: rand.New(rand.NewPCG(seed, seed))}
	m.Log = m.signer(Origin, ofLog)
	for _, name := range []string{"north", "east", "south"} {
		m.Witnesses = append(m.Witnesses, m.signer(name+".example", ofWitness))
	}
	return m
}

func (m *Maker) signer(name string, algorithm byte) *Signer {
	return &Signer{name, algorithm, ed25519.NewKeyFromSeed(m.bytes(ed25519.SeedSize))}
}

func (m *Maker) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(m.rand.Uint32())
	}
	return b
}

func (s *Signer) raw() []byte {
	return append([]byte{s.algorithm}, s.key[ed25519.SeedSize:]...)
}

func (s *Signer) id() []byte {
	hash := sha256.Sum256(append([]byte(s.name+"\n"), s.raw()...))
	return hash[:4]
}

// Verifier returns the public key as a policy takes it.
func (s *Signer) Verifier() string {
	return fmt.Sprintf("%s+%x+%s", s.name, s.id(), base64.StdEncoding.EncodeToString(s.raw()))
}

// line returns a line with a signature. A witness signs with a time, in seconds.
func (s *Signer) line(text string, at uint64) string {
	sig := s.id()
	message := []byte(text)
	if s.algorithm == ofWitness {
		sig = binary.BigEndian.AppendUint64(sig, at)
		message = receipt.CosignedMessage(at, message)
	}
	return signatureLine(s.name, append(sig, ed25519.Sign(s.key, message)...))
}

func signatureLine(name string, sig []byte) string {
	return "\u2014 " + name + " " + base64.StdEncoding.EncodeToString(sig) + "\n"
}

// Policy returns a policy with all witnesses, of which so many are needed; a group of the
// first two may take part as a whole.
func (m *Maker) Policy(least int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# of a test\nlog %s https://lineproof.example/log/0/2027\n\n", m.Log.Verifier())
	for i, w := range m.Witnesses {
		fmt.Fprintf(&b, "witness %s %s\n", []string{"north", "east", "south"}[i], w.Verifier())
	}
	fmt.Fprintf(&b, "group national %d north east south\nquorum national\n", least)
	return b.String()
}

// Plan says what a receipt is about. What is zero is chosen at random.
type Plan struct {
	Erased          bool
	Count           int32 // of the batch
	Index           int64 // of the record in it
	Size            int64 // of the log
	Entry           int64 // its index in the log
	Witnesses       []int // which have signed
	Extension       string
	Behind          string // lines after the signatures
	WrongRecordTime bool
	Text            string              // in the fields that hold free text
	Asked           func(*record.Entry) // changes the record
}

// Any returns a plan at random.
func (m *Maker) Any() Plan {
	p := Plan{Erased: m.rand.IntN(8) == 0, Count: 1 + m.rand.Int32N(300), Size: 1 + m.rand.Int64N(1<<(1+m.rand.IntN(50)))}
	p.Index, p.Entry = m.rand.Int64N(int64(p.Count)), m.rand.Int64N(p.Size)
	for i := range m.Witnesses {
		if m.rand.IntN(4) > 0 {
			p.Witnesses = append(p.Witnesses, i)
		}
	}
	if m.rand.IntN(3) == 0 {
		p.Text = "\u1ecc\u0300y\u1ecd\u0301 \"\\\n\u2028\U0001f4de"
	}
	return p
}

// Make returns a receipt as it is sent.
func (m *Maker) Make(p Plan) string {
	r := m.make(p)
	r.Proof = m.proof(p, &r.Batch)
	return encode(r)
}

func encode(r *receipt.Receipt) string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // texts and numbers can always be written
	}
	return string(text)
}

// make returns a receipt without a proof.
func (m *Maker) make(p Plan) *receipt.Receipt {
	e := m.record(p)
	hash := e.Hash()
	root, path := m.tree(0, int64(p.Count), p.Index, tlog.RecordHash(hash[:]))
	r := &receipt.Receipt{Form: receipt.Form, Statement: receipt.Statement, Public: e.EncodePublic()}
	if p.Erased {
		r.PersonalHash = e.Inner[:]
	} else {
		r.Personal = append(e.EncodePersonal(), e.Nonce[:]...)
	}
	r.Batch = receipt.Batch{Epoch: 57, N: m.rand.Int64N(1 << 40), At: e.At.UnixMilli(), Count: p.Count, Index: p.Index, Root: root[:], Path: []receipt.Bytes{}}
	if p.WrongRecordTime {
		r.Batch.At++
	}
	for _, h := range path {
		r.Batch.Path = append(r.Batch.Path, h[:])
	}
	return r
}

func (m *Maker) record(p Plan) *record.Entry {
	at := time.UnixMilli(1794648600000 + m.rand.Int64N(1<<34)).UTC()
	e := &record.Entry{
		At: at, Type: "number", Mode: "live", Purpose: "payment", PurposeText: "fraud desk" + p.Text, Status: "NORMAL", MobileNetwork: "MTN",
		LineVersion: m.rand.Int64N(90), PolicyVersion: 3, PlanVersion: 2, Rules: 1,
		Personal: record.Personal{Number: 2348030000000 + m.rand.Int64N(9999999), PhoneNumber: "0803 123 4567", Correlator: p.Text, ExternalID: "case 12", Options: `["signals"]`, Extra: `{"changedSince":"no"}`},
	}
	copy(e.RequestID[:], m.bytes(16))
	copy(e.Entity[:], m.bytes(16))
	copy(e.Key[:], m.bytes(16))
	copy(e.Coverage[:], m.bytes(39))
	copy(e.Nonce[:], m.bytes(16))
	if m.rand.IntN(4) == 0 {
		e.Status, e.Reason = "UNKNOWN", "STALE"
	}
	if p.Asked != nil {
		p.Asked(e)
	}
	if p.Erased {
		e.Inner = e.InnerHash()
	}
	return e
}

// tree returns the root of a tree with a leaf at n of lo..hi, and the path to it. The rest
// of the tree is random, so that it may be of any size.
func (m *Maker) tree(lo, hi, n int64, leaf tlog.Hash) (root tlog.Hash, path []tlog.Hash) {
	if lo+1 == hi {
		return leaf, nil
	}
	left := lo + int64(1)<<(bits.Len64(uint64(hi-lo-1))-1)
	other := tlog.Hash(m.bytes(tlog.HashSize))
	if n < left {
		root, path = m.tree(lo, left, n, leaf)
		return tlog.NodeHash(root, other), append(path, other)
	}
	root, path = m.tree(left, hi, n, leaf)
	return tlog.NodeHash(other, root), append(path, other)
}

// proof returns the proof that the log has a batch.
func (m *Maker) proof(p Plan, b *receipt.Batch) string {
	root, path := m.tree(0, p.Size, p.Entry, tlog.RecordHash(entryOf(b)))
	var text strings.Builder
	fmt.Fprintf(&text, "c2sp.org/tlog-proof@v1\nindex %d\n", p.Entry)
	for _, h := range path {
		fmt.Fprintln(&text, h.String())
	}
	checkpoint := fmt.Sprintf("%s\n%d\n%s\n%s", Origin, p.Size, root.String(), p.Extension)
	text.WriteString("\n" + checkpoint + "\n" + m.Log.line(checkpoint, 0))
	for _, i := range p.Witnesses {
		text.WriteString(m.Witnesses[i].line(checkpoint, uint64(b.At)/1000+1))
	}
	return text.String() + p.Behind
}

// entryOf returns the entry of a batch in the log, as docs/reference/public-log.md
// describes it.
func entryOf(b *receipt.Batch) []byte {
	to := append([]byte("lineproof log entry 1\n"), 1)
	for _, n := range []int64{b.At, b.Epoch, b.N} {
		to = binary.BigEndian.AppendUint64(to, uint64(n))
	}
	return append(binary.BigEndian.AppendUint32(to, uint32(b.Count)), b.Root...)
}
