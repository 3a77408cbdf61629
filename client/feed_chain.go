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
	// Erased reports that the service says the event was about a number that was erased. Nothing
	// but its id and its place are there. The chain proves which event that was, not that it
	// had to be erased.
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
// restored from a backup. Of the events before this one, those with a sequence above that
// of Cursor are void, whatever their epoch (sequences go on across epochs): forget what they told, and verify their numbers
// again. PreviousEpoch is the epoch of Cursor.
type Rebased struct {
	Cursor        string `json:"cursor"`
	Hash          string `json:"hash"`
	PreviousEpoch int64  `json:"previousEpoch"`
}

// FeedChain checks events as they are read, whichever way they came. The zero FeedChain has
// read none.
type FeedChain struct {
	epoch, seq int64 // until it is anchored, epoch is the lowest that is accepted
	hash       [sha256.Size]byte
	anchored   bool // hash is known
	rebasing   bool // the history that it had was cut: only an event that says so may come next
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
// as it is, unless that is the first of the feed or names the hash before it.
func (f *FeedChain) Check(raw []byte) (e Event, isNew bool, err error) {
	next, ok := parseLink(raw)
	if !ok || next.epoch < f.epoch {
		return Event{}, false, ErrFeedTampered
	}
	if f.anchored && next.seq == f.seq && next.epoch == f.epoch && next.hash == f.hash {
		return next.event, false, nil
	}
	unexpected := f.rebasing && next.event.Type != rebasedType
	gap := f.anchored && next.seq != f.seq+1
	if unexpected || gap || !f.leadsTo(&next) {
		return Event{}, false, ErrFeedTampered
	}
	*f = FeedChain{epoch: next.epoch, seq: next.seq, hash: next.hash, anchored: true}
	return next.event, true, nil
}

// leadsTo reports whether the hash of the event is that of the hash before it and its own
// content. Before the first event of the feed the hash is zero. A chain that starts within the
// feed does not know the hash before, unless the event names it.
func (f *FeedChain) leadsTo(next *feedLink) bool {
	before := f.hash
	if !f.anchored && next.seq != 1 {
		if next.event.Type != rebasedType {
			return true
		}
		named, ok := hashBefore(next.event.Data)
		if !ok {
			return false
		}
		before = named
	}
	return sha256.Sum256(append(before[:], next.digest[:]...)) == next.hash
}

// feedLink is an event with its place in the chain.
type feedLink struct {
	event      Event
	epoch, seq int64
	digest     [sha256.Size]byte // of the event without its hash
	hash       [sha256.Size]byte // of the hash before it and its digest
}

// parseLink reads an event as it was received. An erased event carries the digest that it had.
func parseLink(raw []byte) (l feedLink, ok bool) {
	body, hash, ok := splitChain(raw)
	var sent struct {
		ID, Type, Subject, Sequence string
		Time                        time.Time
		Data                        json.RawMessage
	}
	if !ok || json.Unmarshal(raw, &sent) != nil {
		return l, false
	}
	if l.epoch, l.seq, ok = parseEventID(sent.ID); !ok || sent.Sequence != strconv.FormatInt(l.seq, 10) {
		return l, false
	}
	l.hash = hash
	if sent.Type == erasedType {
		l.event = Event{ID: sent.ID, Type: sent.Type, Sequence: l.seq, Erased: true} // the chain proves the digest, and no other member
		var data struct{ Digest string }
		if json.Unmarshal(sent.Data, &data) != nil {
			return l, false
		}
		l.digest, ok = parseHash(data.Digest)
		return l, ok
	}
	l.event = Event{ID: sent.ID, Type: sent.Type, Subject: sent.Subject, Time: sent.Time, Sequence: l.seq, Data: sent.Data}
	l.digest = sha256.Sum256(body)
	return l, true
}

// parseEventID splits an id into its epoch and its sequence, which both begin with 1. There is
// one way to write them.
func parseEventID(id string) (epoch, seq int64, ok bool) {
	epochText, seqText, _ := strings.Cut(id, "-")
	epoch, epochErr := strconv.ParseInt(epochText, 10, 64)
	seq, seqErr := strconv.ParseInt(seqText, 10, 64)
	ok = epochErr == nil && seqErr == nil && epoch >= 1 && seq >= 1
	return epoch, seq, ok && id == strconv.FormatInt(epoch, 10)+"-"+strconv.FormatInt(seq, 10)
}

// hashBefore returns the hash that an event of the type rebased names.
func hashBefore(data []byte) (hash [sha256.Size]byte, ok bool) {
	var rebased Rebased
	if json.Unmarshal(data, &rebased) != nil {
		return hash, false
	}
	return parseHash(rebased.Hash)
}

// splitChain separates an event from its hash, which is its last member.
func splitChain(raw []byte) (body []byte, hash [sha256.Size]byte, ok bool) {
	tail := len(chainMember) + base64.RawURLEncoding.EncodedLen(len(hash)) + len(`"}`)
	at := len(raw) - tail
	if at < 1 || !bytes.HasPrefix(raw[at:], []byte(chainMember)) || !bytes.HasSuffix(raw, []byte(`"}`)) {
		return nil, hash, false
	}
	if hash, ok = parseHash(string(raw[at+len(chainMember) : len(raw)-2])); !ok {
		return nil, hash, false
	}
	return append(bytes.Clone(raw[:at]), '}'), hash, true
}

// parseHash decodes a hash. The decoder ignores line breaks, so that the length is checked, too.
func parseHash(text string) (hash [sha256.Size]byte, ok bool) {
	sum, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(sum) != len(hash) {
		return hash, false
	}
	return [sha256.Size]byte(sum), true
}
