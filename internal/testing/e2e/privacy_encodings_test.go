package e2e_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// publicSecrets is what must not be public.
type publicSecrets struct {
	numbers []int64
	texts   []string
	ids     []uuid.UUID
}

// publicSecrets reads them from the database and adds the keys of the callers.
func (w *fixture) publicSecrets(t *testing.T) *publicSecrets {
	t.Helper()
	s := &publicSecrets{texts: []string{w.key.Text.Reveal(), w.client.Secret.Reveal(), w.token}}
	rows := must(w.pool.Query(t.Context(), `SELECT DISTINCT number FROM journal_entry`))(t)
	s.numbers = must(pgx.CollectRows(rows, pgx.RowTo[int64]))(t)
	rows = must(w.pool.Query(t.Context(), `SELECT phone_number FROM journal_entry UNION SELECT status FROM journal_entry UNION SELECT mobile_network FROM journal_entry
		UNION SELECT correlator FROM journal_entry UNION SELECT external_id FROM journal_entry UNION SELECT name FROM entity UNION SELECT name FROM client UNION SELECT upper(name) FROM numbering_network`))(t)
	for _, text := range must(pgx.CollectRows(rows, pgx.RowTo[string]))(t) {
		if len(text) >= minNeedle || strings.ToUpper(text) == text && len(text) > 4 {
			s.texts = append(s.texts, text)
		}
	}
	rows = must(w.pool.Query(t.Context(), `SELECT request_id FROM journal_entry UNION SELECT entity_id FROM journal_entry UNION SELECT key_id FROM journal_entry
		UNION SELECT id FROM entity UNION SELECT id FROM client UNION SELECT uid FROM supply_import UNION SELECT id FROM account`))(t)
	s.ids = must(pgx.CollectRows(rows, pgx.RowTo[uuid.UUID]))(t)
	return s
}

// needle is what is searched for, in one encoding.
type needle struct{ what, bytes string }

// minNeedle is the shortest needle. Shorter ones occur in random bytes by chance.
const minNeedle = 6

// encoding is a way to write secrets.
type encoding struct {
	name string
	all  func(s *publicSecrets) []needle
}

// ofNumbers, ofTexts and ofIDs make encodings.
func ofNumbers(name string, as ...func(number int64) string) encoding {
	return encoding{name, func(s *publicSecrets) (list []needle) {
		for _, n := range s.numbers {
			for _, f := range as {
				list = append(list, needle{strconv.FormatInt(n, 10), f(n)})
			}
		}
		return list
	}}
}

func ofTexts(name string, as ...func(text string) string) encoding {
	return encoding{name, func(s *publicSecrets) (list []needle) {
		for _, text := range s.texts {
			for _, f := range as {
				list = append(list, needle{text, f(text)})
			}
		}
		return list
	}}
}

func ofIDs(name string, as ...func(id uuid.UUID) string) encoding {
	return encoding{name, func(s *publicSecrets) (list []needle) {
		for _, id := range s.ids {
			for _, f := range as {
				list = append(list, needle{id.String(), f(id)})
			}
		}
		return list
	}}
}

// encodings are all that are searched.
var encodings = slices.Concat([]encoding{
	ofNumbers("E.164 in digits", e164),
	ofNumbers("national number in digits", national),
	ofNumbers("E.164 in UTF-16", func(n int64) string { return utf16Text(e164(n), binary.BigEndian) }, func(n int64) string { return utf16Text(e164(n), binary.LittleEndian) }),
	ofNumbers("national number in UTF-16", func(n int64) string { return utf16Text(national(n), binary.BigEndian) }),
	ofNumbers("BCD", func(n int64) string { return bcd(e164(n), false) }, func(n int64) string { return bcd(e164(n)[1:], false) }),
	ofNumbers("BCD with nibbles swapped", func(n int64) string { return bcd(e164(n), true) }, func(n int64) string { return bcd(e164(n)[1:], true) }),
	ofNumbers("binary, big-endian", func(n int64) string { return string(binary.BigEndian.AppendUint64(nil, uint64(n))) }, nationalBinary(binary.BigEndian)),
	ofNumbers("binary, little-endian", func(n int64) string { return string(binary.LittleEndian.AppendUint64(nil, uint64(n))) }, nationalBinary(binary.LittleEndian)),
	ofNumbers("binary of six bytes", func(n int64) string { return string(binary.BigEndian.AppendUint64(nil, uint64(n))[2:]) }, func(n int64) string { return string(binary.LittleEndian.AppendUint64(nil, uint64(n))[:6]) }),
	ofNumbers("varint", func(n int64) string { return string(binary.AppendUvarint(nil, uint64(n))) }, func(n int64) string { return string(binary.AppendVarint(nil, n)) }),
	ofNumbers("number in hex digits", func(n int64) string { return strconv.FormatInt(n, 16) }, func(n int64) string { return strings.ToUpper(strconv.FormatInt(n, 16)) }),
	ofNumbers("hex of the digits", func(n int64) string { return hex.EncodeToString([]byte(e164(n))) }),
	ofTexts("text", func(s string) string { return s }),
	ofTexts("text in lower case", strings.ToLower),
	ofTexts("text in UTF-16", func(s string) string { return utf16Text(s, binary.BigEndian) }, func(s string) string { return utf16Text(s, binary.LittleEndian) }),
	ofTexts("hex of a text", func(s string) string { return hex.EncodeToString([]byte(s)) }, func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }),
	ofIDs("UUID as text", uuid.UUID.String, func(id uuid.UUID) string { return strings.ToUpper(id.String()) }),
	ofIDs("UUID in hex digits", func(id uuid.UUID) string { return hex.EncodeToString(id[:]) }),
	ofIDs("UUID in binary", func(id uuid.UUID) string { return string(id[:]) }),
	ofIDs("random half of a UUID in binary", func(id uuid.UUID) string { return string(id[8:]) }),
}, inBase64())

// inBase64 returns the encodings in base64: at each of the three places in a group of three
// bytes at which what is encoded can begin, and in both alphabets.
func inBase64() (list []encoding) {
	for alphabet, code := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64url": base64.RawURLEncoding} {
		for before := range 3 {
			as := func(of string) string {
				text := code.EncodeToString([]byte(strings.Repeat("\x00", before) + of))
				first := []int{0, 2, 3}[before] // characters that depend on what is before
				last := len(text)
				if (before+len(of))%3 != 0 {
					last-- // and on what follows
				}
				return text[first:last]
			}
			name := func(what string) string { return fmt.Sprintf("%s in %s, place %d", what, alphabet, before) }
			list = append(list,
				ofNumbers(name("E.164"), func(n int64) string { return as(e164(n)) }),
				ofNumbers(name("national number"), func(n int64) string { return as(national(n)) }),
				ofNumbers(name("binary number"), func(n int64) string { return as(string(binary.BigEndian.AppendUint64(nil, uint64(n)))) }),
				ofTexts(name("text"), as),
				ofIDs(name("UUID"), func(id uuid.UUID) string { return as(string(id[:])) }),
				ofIDs(name("UUID as text"), func(id uuid.UUID) string { return as(id.String()) }))
		}
	}
	return list
}

func e164(n int64) string { return strconv.FormatInt(n, 10) }

// national is the number without its country code, as it also stands after a zero.
func national(n int64) string { return e164(n)[3:] }

func nationalBinary(order binary.AppendByteOrder) func(int64) string {
	return func(n int64) string {
		local, _ := strconv.ParseUint(national(n), 10, 64)
		return string(order.AppendUint64(nil, local))
	}
}

func utf16Text(s string, order binary.AppendByteOrder) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// bcd writes two digits in each byte. A last digit without a partner is left out, as its
// partner could be anything.
func bcd(digits string, swapped bool) string {
	var b []byte
	for ; len(digits) >= 2; digits = digits[2:] {
		high, low := digits[0]-'0', digits[1]-'0'
		if swapped {
			high, low = low, high
		}
		b = append(b, high<<4|low)
	}
	return string(b)
}

// search returns where needles are found.
func (p *publicBytes) search(needles []needle) (hits []string) {
	byStart := make(map[[minNeedle - 1]byte][]needle, len(needles))
	for _, n := range needles {
		if len(n.bytes) >= minNeedle-1 {
			start := [minNeedle - 1]byte([]byte(n.bytes))
			byStart[start] = append(byStart[start], n)
		}
	}
	for name, content := range p.name {
		for i := 0; i+minNeedle-1 <= len(content); i++ {
			for _, n := range byStart[[minNeedle - 1]byte(content[i:])] {
				if end := i + len(n.bytes); end <= len(content) && string(content[i:end]) == n.bytes {
					hits = append(hits, fmt.Sprintf("%q at byte %d of %s", n.what, i, name))
				}
			}
		}
	}
	return hits
}

// plant returns the public bytes with one needle somewhere in a file.
func (p *publicBytes) plant(name string, needles []needle) *publicBytes {
	file := slices.Sorted(maps.Keys(p.name))[rand.IntN(len(p.name))]
	content := p.name[file]
	at := rand.IntN(len(content) + 1)
	n := needles[rand.IntN(len(needles))]
	return &publicBytes{name: map[string][]byte{name: slices.Concat(content[:at], []byte(n.bytes), content[at:])}}
}
