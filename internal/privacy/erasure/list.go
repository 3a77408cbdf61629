package erasure

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/blob"
)

// listForm names the format of a list. A change of the format gets a new name.
const listForm = "lineproof erasure 1"

// list is a file beside the archives that survives the loss of the database: which
// records an erasure covers, or which archive was written anew. Lists are numbered from
// 1 without gaps, and their keys follow from their numbers, so that all of them can be
// found without the database. They name records by their ids and hold nothing of them.
type list struct {
	Form     string           `json:"form"`
	Erasure  uuid.UUID        `json:"erasure"`
	Ground   Ground           `json:"ground,omitzero"`
	At       time.Time        `json:"at"`
	Records  []listedRecord   `json:"records,omitempty"`
	Days     []time.Time      `json:"days,omitempty"`
	Replaced *journal.Archive `json:"replaced,omitempty"` // the new archive of a day
	// Feeds are the entries of feeds that the erasure covers.
	Feeds []feed.Place `json:"feeds,omitempty"`
}

type listedRecord struct {
	RequestID uuid.UUID `json:"requestId"`
	Hash      string    `json:"hash"`
}

// listKey returns the key of a list.
func listKey(number uint64) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(listForm+"\n"), number))
	var key uuid.UUID
	copy(key[:], sum[:])
	key[6] = 0x80 | key[6]&0x0f // UUID version 8: the application defines the bits
	key[8] = 0x80 | key[8]&0x3f
	return key.String()
}

// appendList stores a list under the next free number.
func appendList(ctx context.Context, files blob.Store, l *list) error {
	l.Form = listForm
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("erasure: write a list: %w", err)
	}
	for number := uint64(1); ; number++ {
		_, err := files.Put(ctx, listKey(number), bytes.NewReader(text))
		if err == nil {
			return nil
		}
		if !errors.Is(err, blob.ErrExists) {
			return fmt.Errorf("erasure: store a list: %w", err)
		}
	}
}

// readLists calls each for every list, in order.
func readLists(ctx context.Context, files blob.Store, each func(*list) error) error {
	for number := uint64(1); ; number++ {
		f, err := files.Open(ctx, listKey(number))
		if errors.Is(err, blob.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("erasure: read a list: %w", err)
		}
		text, err := io.ReadAll(f)
		_ = f.Close()
		var l list
		if err == nil {
			err = json.Unmarshal(text, &l)
		}
		if err == nil && l.Form != listForm {
			err = errors.New("it has a format that this version does not support")
		}
		if err != nil {
			return fmt.Errorf("erasure: read list %d: %w", number, err)
		}
		if err := each(&l); err != nil {
			return err
		}
	}
}

// add lists a record.
func (l *list) add(e *record.Entry) {
	hash := e.Hash()
	l.Records = append(l.Records, listedRecord{e.RequestID, hex.EncodeToString(hash[:])})
}

func (l *list) erased() ([]journal.Erased, error) {
	all := make([]journal.Erased, len(l.Records))
	for i, r := range l.Records {
		hash, err := hex.DecodeString(r.Hash)
		if err != nil || len(hash) != sha256.Size {
			return nil, fmt.Errorf("erasure: the list has a wrong hash for record %s", r.RequestID)
		}
		all[i] = journal.Erased{RequestID: r.RequestID, Hash: [32]byte(hash)}
	}
	return all, nil
}
