package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Event is one event of the feed.
type Event struct {
	ID       string // epoch and sequence; the same id always means the same event
	Type     string // such as org.lineproof.line.v1.swapped; ignore types that you do not know
	Subject  string // the phone number, if it is about one
	Time     time.Time
	Sequence int64
	Data     json.RawMessage // what the type says
	// Erased reports that the event was about a number that was erased. Nothing but its id and
	// type is known then.
	Erased bool
}

// LineChange is the data of an event about a line, whose type begins with
// org.lineproof.line.v1.
type LineChange struct {
	PhoneNumber   string    `json:"phoneNumber"`
	Status        Status    `json:"status"`
	Previous      Status    `json:"previous"`
	EffectiveAt   time.Time `json:"effectiveAt"` // zero if it is not known
	Until         time.Time `json:"until"`       // when the status ends by itself; zero if it does not
	MobileNetwork string    `json:"mobileNetwork"`
	Version       int64     `json:"version"`    // of the line; a lower one is older
	Correction    bool      `json:"correction"` // it changes what was known about an earlier time
	Lists         []string  `json:"lists"`      // that have the number
}

// ErrFeedTampered reports a feed in which an event is missing, altered, moved or repeated.
// Nothing after the last good event may be relied on.
var ErrFeedTampered = errors.New("client: the feed is not the one that the service wrote: an event is missing, altered, moved or repeated")

const (
	erasedType  = "org.lineproof.feed.v1.erased"
	rebasedType = "org.lineproof.feed.v1.rebased"
)

// Rebased is the data of an event of the type org.lineproof.feed.v1.rebased: the service was
// restored from a backup. Forget what events told that came before this one and whose
// sequence is higher than that of Cursor, whatever their epoch, and verify their numbers
// again. PreviousEpoch is the epoch of Cursor.
type Rebased struct {
	Cursor        string `json:"cursor"`
	Hash          string `json:"hash"`
	PreviousEpoch int64  `json:"previousEpoch"`
}

// FeedChain checks events as they are read, whichever way they came. The zero FeedChain has
// read none.
type FeedChain struct {
	epoch, seq int64
	hash       [sha256.Size]byte
	anchored   bool // hash is known
	rebasing   bool // the next event must say that the feed was rebased
}

// ParseFeedChain returns the chain at a position that [FeedChain.Position] returned; the
// zero chain for "".
func ParseFeedChain(position string) (f FeedChain, err error) {
	if position == "" {
		return f, nil
	}
	parts := strings.Split(position, "-")
	if len(parts) == 3 {
		var sum []byte
		f.epoch, err = strconv.ParseInt(parts[0], 10, 64)
		if err == nil {
			f.seq, err = strconv.ParseInt(parts[1], 10, 64)
		}
		if err == nil {
			sum, err = hex.DecodeString(parts[2])
		}
		if err == nil && len(sum) == len(f.hash) {
			copy(f.hash[:], sum)
			f.anchored = true
			return f, nil
		}
	}
	return FeedChain{}, errors.New("client: not a position of the feed; use what was saved, unchanged")
}

// Position returns the place after the last event that was read, with its whole hash. It is
// "" before the first.
func (f *FeedChain) Position() string {
	if !f.anchored {
		return ""
	}
	return f.place() + hex.EncodeToString(f.hash[:])
}

// Cursor returns the place after the last event as the service takes it.
func (f *FeedChain) Cursor() string {
	if !f.anchored {
		return ""
	}
	return f.place() + hex.EncodeToString(f.hash[:8])
}

func (f *FeedChain) place() string {
	return strconv.FormatInt(f.epoch, 10) + "-" + strconv.FormatInt(f.seq, 10) + "-"
}

// chainMember is how the last member of every event begins.
const chainMember = `,"lpchain":"`

// Check checks the next event, as it was received. It returns false for the last event
// once more, which is to be dropped. A chain that has read nothing takes the first event
// as it is, unless that is the first of the feed.
func (f *FeedChain) Check(raw []byte) (e Event, isNew bool, err error) {
	body, hash, ok := splitChain(raw)
	var sent struct {
		ID, Type, Subject, Sequence string
		Time                        time.Time
		Data                        json.RawMessage
	}
	if !ok || json.Unmarshal(raw, &sent) != nil {
		return e, false, ErrFeedTampered
	}
	epochText, seqText, _ := strings.Cut(sent.ID, "-")
	epoch, err1 := strconv.ParseInt(epochText, 10, 64)
	seq, err2 := strconv.ParseInt(seqText, 10, 64)
	if err1 != nil || err2 != nil || seq < 1 || epoch < max(1, f.epoch) || sent.ID != strconv.FormatInt(epoch, 10)+"-"+strconv.FormatInt(seq, 10) || sent.Sequence != seqText {
		return e, false, ErrFeedTampered
	}
	digest := sha256.Sum256(body)
	e = Event{ID: sent.ID, Type: sent.Type, Subject: sent.Subject, Time: sent.Time, Sequence: seq, Data: sent.Data}
	if sent.Type == erasedType {
		var data struct{ Digest string }
		sum, err := []byte(nil), json.Unmarshal(sent.Data, &data)
		if err == nil {
			sum, err = base64.RawURLEncoding.Strict().DecodeString(data.Digest)
		}
		if err != nil || len(sum) != len(digest) {
			return Event{}, false, ErrFeedTampered
		}
		digest = [sha256.Size]byte(sum)
		e = Event{ID: e.ID, Type: e.Type, Sequence: e.Sequence, Erased: true} // the chain says nothing about the rest
	}
	if f.anchored && seq == f.seq && epoch == f.epoch && hash == f.hash {
		return e, false, nil
	}
	before, known := f.hash, f.anchored || seq == 1 // the hash before the first event is zero
	if !known && sent.Type == rebasedType {
		if before, known = hashBefore(sent.Data); !known {
			return Event{}, false, ErrFeedTampered
		}
	}
	if f.rebasing && sent.Type != rebasedType || f.anchored && seq != f.seq+1 {
		return Event{}, false, ErrFeedTampered
	}
	if known && sha256.Sum256(append(bytes.Clone(before[:]), digest[:]...)) != hash {
		return Event{}, false, ErrFeedTampered
	}
	*f = FeedChain{epoch: epoch, seq: seq, hash: hash, anchored: true}
	return e, true, nil
}

// hashBefore returns the hash that an event of the type rebased names.
func hashBefore(data []byte) (hash [sha256.Size]byte, ok bool) {
	var rebased Rebased
	if json.Unmarshal(data, &rebased) != nil {
		return hash, false
	}
	sum, err := base64.RawURLEncoding.Strict().DecodeString(rebased.Hash)
	copy(hash[:], sum)
	return hash, err == nil && len(sum) == len(hash)
}

// splitChain separates an event from its hash, which is its last member.
func splitChain(raw []byte) (body []byte, hash [sha256.Size]byte, ok bool) {
	tail := len(chainMember) + base64.RawURLEncoding.EncodedLen(len(hash)) + len(`"}`)
	at := len(raw) - tail
	if at < 1 || !bytes.HasPrefix(raw[at:], []byte(chainMember)) || !bytes.HasSuffix(raw, []byte(`"}`)) {
		return nil, hash, false
	}
	sum, err := base64.RawURLEncoding.Strict().DecodeString(string(raw[at+len(chainMember) : len(raw)-2]))
	if err != nil || len(sum) != len(hash) { // a decoder ignores line breaks
		return nil, hash, false
	}
	return append(bytes.Clone(raw[:at]), '}'), [sha256.Size]byte(sum), true
}
