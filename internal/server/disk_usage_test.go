package server_test

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// A node reports the journal's disk usage and, if the size of the disk is
// configured, for how many days that lasts: none on a full disk.
func TestNodeReportsHowLongTheDiskLasts(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{"": "", "LINEPROOF_JOURNAL_DISK_BYTES=1000": "\nlineproof_journal_disk_days_left 0\n"} {
		r := start(t, pgtest.URL(t), strings.Fields(settings)...)
		var text string
		waitFor(t, func() bool {
			_, text = get(t, "http://"+r.private+"/metrics")
			return strings.Contains(text, "\nlineproof_journal_bytes ") && strings.Contains(text, "\nlineproof_journal_bytes_per_day ") && strings.Contains(text, want)
		})
		if want == "" && strings.Contains(text, "lineproof_journal_disk_days_left") {
			t.Error("the size of the disk is not configured, and the node reports the days left")
		}
		r.stop()
		if err := <-r.done; err != nil {
			t.Error(err)
		}
	}
}
