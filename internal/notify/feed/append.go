package feed

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Event is an event before it has its place in a feed.
type Event struct {
	Type   string       // without its prefix, for example line.v1.swapped
	Number phone.Number // that it is about; zero if it is about none
	Time   time.Time    // when we came to know it
	Data   any          // becomes JSON; its numbers are integers below 2^53
	ID     string       // set when it is added
}

// TypePrefix is the prefix of the type of every event.
const TypePrefix = "org.lineproof."

// cloudEvent is the form of an entry: CloudEvents 1.0 in JSON. Its members stand in the
// order of RFC 8785.
type cloudEvent struct {
	Data            any    `json:"data"`
	DataContentType string `json:"datacontenttype"`
	ID              string `json:"id"`
	Salt            string `json:"lpsalt,omitzero"` // random, so that nobody can guess an erased body by its digest
	Sequence        string `json:"sequence"`
	Source          string `json:"source"`
	SpecVersion     string `json:"specversion"`
	Subject         string `json:"subject,omitzero"`
	Time            string `json:"time"`
	Type            string `json:"type"`
}

const (
	saltSize   = 16
	erasedType = "feed.v1.erased"
	timeForm   = "2006-01-02T15:04:05.000Z"
)

// encode returns the canonical JSON of an event. The source names the feed, because ids
// are unique in a feed only.
func encode(o Owner, epoch int, seq int64, eventType string, about phone.Number, at time.Time, salt string, data any) ([]byte, error) {
	text, err := json.Marshal(&cloudEvent{
		Data: data, DataContentType: "application/json", ID: idOf(epoch, seq), Salt: salt, Sequence: strconv.FormatInt(seq, 10),
		Source: "/feeds/" + o.Entity.String() + "/" + o.Mode, SpecVersion: "1.0", Subject: about.E164(), Time: at.UTC().Format(timeForm), Type: TypePrefix + eventType,
	}, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("feed: encode an event: %w", err)
	}
	if err := (*jsontext.Value)(&text).Canonicalize(); err != nil {
		return nil, fmt.Errorf("feed: encode an event: %w", err)
	}
	return text, nil
}

// erasedBody returns the event in the place of an erased one. It has the digest of the
// erased body, with which the chain can be checked.
func erasedBody(o Owner, e *Entry, digest []byte) ([]byte, error) {
	data := map[string]string{"digest": base64.RawURLEncoding.EncodeToString(digest)}
	return encode(o, e.Epoch, e.Seq, erasedType, phone.Number{}, e.At, "", data)
}

// Append adds events to a feed, in their order. The feed is locked until the transaction
// ends: call it late.
func Append(ctx context.Context, tx pg.Tx, o Owner, events ...Event) error {
	return AppendAll(ctx, tx, map[Owner][]Event{o: events})
}

// AppendAll is [Append] for many feeds at once.
func AppendAll(ctx context.Context, tx pg.Tx, events map[Owner][]Event) error {
	owners := slices.SortedFunc(maps.Keys(events), compareOwners)
	owners = slices.DeleteFunc(owners, func(o Owner) bool { return len(events[o]) == 0 })
	if len(owners) == 0 {
		return nil
	}
	heads, at, err := lockHeads(ctx, tx, owners)
	if err != nil {
		return err
	}
	var entries [][]any
	for i, o := range owners {
		h := &heads[i]
		if h.seq == 0 && h.epoch > 1 { // whoever had a feed before the restore sees that nothing of it is left
			first := rebased(&head{epoch: 1}, at)
			row, err := h.add(o, &first, at)
			if err != nil {
				return err
			}
			entries = append(entries, row)
		}
		for k := range events[o] {
			row, err := h.add(o, &events[o][k], at)
			if err != nil {
				return err
			}
			entries = append(entries, row)
		}
	}
	columns := []string{"entity_id", "mode", "seq", "at", "number", "epoch", "type", "body", "hash"}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"feed_entry"}, columns, pgx.CopyFromRows(entries)); err != nil {
		return fmt.Errorf("feed: write entries: %w", err)
	}
	return moveHeads(ctx, tx, owners, heads)
}

// compareOwners is the order of feed_head.
func compareOwners(a, b Owner) int {
	return cmp.Or(slices.Compare(a.Entity[:], b.Entity[:]), cmp.Compare(a.Mode, b.Mode))
}

// add appends one event to the chain, and returns its row.
func (h *head) add(o Owner, event *Event, at time.Time) ([]any, error) {
	h.seq++
	event.ID = idOf(h.epoch, h.seq)
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails
	body, err := encode(o, h.epoch, h.seq, event.Type, event.Number, event.Time, base64.RawURLEncoding.EncodeToString(salt), event.Data)
	if err != nil {
		return nil, err
	}
	h.hash = Chain(h.hash, sha256.Sum256(body))
	var number *int64
	if !event.Number.IsZero() {
		n := event.Number.Int()
		number = &n
	}
	return []any{o.Entity, o.Mode, h.seq, at, number, h.epoch, event.Type, body, slices.Clone(h.hash[:])}, nil
}

func split(owners []Owner) (entities []uuid.UUID, modes []string) {
	for _, o := range owners {
		entities, modes = append(entities, o.Entity), append(modes, o.Mode)
	}
	return entities, modes
}

// lockHeads locks the heads of feeds in the order of their owners, so that two
// transactions never wait for each other, and creates those that are missing. The time is
// that of the last lock, so that entries are in the order of their times.
func lockHeads(ctx context.Context, tx pg.Tx, owners []Owner) (heads []head, at time.Time, err error) {
	entities, modes := split(owners)
	_, err = tx.Exec(ctx, `INSERT INTO feed_head (entity_id, mode, epoch) SELECT t.e, t.m, f.epoch FROM unnest($1::uuid[], $2::text[]) AS t (e, m), feed_epoch f ON CONFLICT DO NOTHING`, entities, modes)
	if err != nil {
		return nil, at, fmt.Errorf("feed: create heads: %w", err)
	}
	heads, err = pg.Collect(ctx, tx, func(row pgx.CollectableRow) (h head, err error) {
		var hash []byte
		err = row.Scan(&h.epoch, &h.seq, &hash, &at)
		copy(h.hash[:], hash)
		return h, err
	}, `SELECT h.epoch, h.seq, h.hash, clock_timestamp() FROM feed_head h JOIN unnest($1::uuid[], $2::text[]) AS t (e, m) ON h.entity_id = t.e AND h.mode = t.m
		ORDER BY h.entity_id, h.mode FOR UPDATE OF h`, entities, modes)
	if err != nil {
		return nil, at, fmt.Errorf("feed: lock heads: %w", err)
	}
	if len(heads) != len(owners) {
		return nil, at, fmt.Errorf("feed: %d of %d heads locked", len(heads), len(owners))
	}
	return heads, at, nil
}

// moveHeads writes the new ends of feeds, and notifies those that wait for them.
func moveHeads(ctx context.Context, tx pg.Tx, owners []Owner, heads []head) error {
	entities, modes := split(owners)
	var seqs []int64
	var hashes [][]byte
	for i := range heads {
		seqs, hashes = append(seqs, heads[i].seq), append(hashes, heads[i].hash[:])
	}
	batch := &pgx.Batch{}
	batch.Queue(`UPDATE feed_head h SET seq = t.seq, hash = t.hash FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bytea[]) AS t (e, m, seq, hash)
		WHERE h.entity_id = t.e AND h.mode = t.m`, entities, modes, seqs, hashes)
	batch.Queue(`SELECT pg_notify($1, t.e::text || ' ' || t.m) FROM unnest($2::uuid[], $3::text[]) AS t (e, m)`, Channel, entities, modes)
	return fault.Wrap(tx.SendBatch(ctx, batch).Close(), "feed: move heads")
}
