package linefile_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/lineproof/lineproof/internal/line/linefile"
)

// The file of lines that compresses best, with consecutive numbers that differ in
// nothing else, stays far below the ratio at which a file is rejected.
func TestHonestFilesCompressLessThanTheLimit(t *testing.T) {
	t.Parallel()
	var plain bytes.Buffer
	plain.WriteString("number,tenureStart,simChangedAt,state,stateSince\n")
	for plain.Len() < 20<<20 { // more than is read before the ratio is compared
		fmt.Fprintf(&plain, "+23480%08d,2024-02-03,NEVER,ACTIVE,\n", 30_000_000+plain.Len()/40)
	}
	var small bytes.Buffer
	z, err := zstd.NewWriter(&small, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(plain.Bytes()); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes become %d, %d times fewer", plain.Len(), small.Len(), plain.Len()/small.Len())
	if got := readAll(t, &small, options(t, linefile.Snapshot), 1000); got.err != nil || len(got.refused) > 0 {
		t.Errorf("%v, %d rows are refused", got.err, len(got.refused))
	}
}
