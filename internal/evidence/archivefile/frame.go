package archivefile

import (
	"encoding/binary"
	"fmt"
	"time"
)

// A part is several frames of zstd, one after the other, each with a few hundred records,
// so that the proof of one answer need not decompress all of them. Before them is a frame
// that decompressors skip: the list of the others, with their lengths and periods.

// frameEntries is about how many records a frame has.
const frameEntries = 512

// frame is a compressed piece of a part.
type frame struct {
	bytes       int
	first, last int64 // times of its batches in milliseconds
	batches     int64
	entries     int
}

func (f *frame) count(b *Batch) {
	at := b.At.UnixMilli()
	if f.batches == 0 || at < f.first {
		f.first = at
	}
	if f.batches == 0 || at > f.last {
		f.last = at
	}
	f.batches++
	f.entries += len(b.Entries)
}

// frameList collects the frames of a part.
type frameList struct {
	list    []frame
	content []byte
}

func (l *frameList) reset() { l.list, l.content = l.list[:0], l.content[:0] }

func (l *frameList) add(f frame, compress func(to []byte) []byte) {
	before := len(l.content)
	l.content = compress(l.content)
	f.bytes = len(l.content) - before
	l.list = append(l.list, f)
}

const (
	skippable   = 0x184d2a50 // the magic number of a frame that decompressors skip
	frameHead   = 8          // magic number and length
	frameRecord = 4 + 8 + 8  // length, first and last time
)

// appendTo appends the file: the list and the frames.
func (l *frameList) appendTo(to []byte) []byte {
	to = binary.LittleEndian.AppendUint32(to, skippable)
	to = binary.LittleEndian.AppendUint32(to, uint32(len(l.list)*frameRecord)) //nolint:gosec // few
	for _, f := range l.list {
		to = binary.BigEndian.AppendUint32(to, uint32(f.bytes)) //nolint:gosec // far below 4 GiB
		to = binary.BigEndian.AppendUint64(to, uint64(f.first)) //nolint:gosec // two's complement is the format
		to = binary.BigEndian.AppendUint64(to, uint64(f.last))  //nolint:gosec // as above
	}
	return append(to, l.content...)
}

var errFrames = fmt.Errorf("%w: the list of frames is not one", ErrDamaged)

// framesAt returns the frames of a file that may have batches of a time, and whether the
// first of the file is among them, which begins with the line of the part.
func framesAt(file []byte, at time.Time) (frames []byte, first bool, err error) {
	if len(file) < frameHead || binary.LittleEndian.Uint32(file) != skippable {
		return nil, false, errFrames
	}
	length := int(binary.LittleEndian.Uint32(file[4:]))
	if length%frameRecord != 0 || length > len(file)-frameHead {
		return nil, false, errFrames
	}
	list, content := file[frameHead:frameHead+length], file[frameHead+length:]
	wanted := at.UnixMilli()
	for i := 0; len(list) > 0; i, list = i+1, list[frameRecord:] {
		n := int(binary.BigEndian.Uint32(list))
		if n > len(content) {
			return nil, false, errFrames
		}
		from, to := int64(binary.BigEndian.Uint64(list[4:])), int64(binary.BigEndian.Uint64(list[12:])) //nolint:gosec // as above
		if from <= wanted && wanted <= to {
			frames, first = append(frames, content[:n]...), first || i == 0
		}
		content = content[n:]
	}
	return frames, first, nil
}
