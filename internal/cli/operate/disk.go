package operate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// Shares of a file system that should be free, in per cent, and days for which the database
// should have space. The days are those of the alert.
const (
	freeWarn, freeFail = 10, 3
	daysWarn, daysFail = 14, 3
)

// diskSpace is the free space of a file system, and its size.
type diskSpace struct{ free, size uint64 }

func (s diskSpace) percent() uint64 { return s.free * 100 / max(1, s.size) }

func (s diskSpace) String() string {
	return fmt.Sprintf("%.1f GiB of %.1f free (%d %%)", float64(s.free)/(1<<30), float64(s.size)/(1<<30), s.percent())
}

// diskSpaceOf returns the space that the file system of dir has for others than root. If dir
// does not exist yet, the file system of its parent counts.
func diskSpaceOf(dir string) (diskSpace, error) {
	for {
		_, err := os.Stat(dir)
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return diskSpace{}, fmt.Errorf("%s: %w", dir, err)
	}
	unit := uint64(s.Bsize) //nolint:gosec // never negative
	return diskSpace{free: s.Bavail * unit, size: (s.Blocks - s.Bfree + s.Bavail) * unit}, nil
}

// judgeDiskSpace reports whether a file system has enough free space.
func (r *report) judgeDiskSpace(check, what string, has diskSpace) {
	const do = "make room, or enlarge the file system"
	found := what + ": " + has.String()
	switch {
	case has.percent() < freeFail:
		r.fail(check, found, do)
	case has.percent() < freeWarn:
		r.warn(check, found, do)
	default:
		r.ok(check, found)
	}
}

// disk checks the free space for the service's own directory, which uploads pass through even where
// a bucket stores them.
func (r *report) disk(dir string) {
	const check = "disk"
	has, err := diskSpaceOf(dir)
	if err != nil {
		r.fail(check, err.Error(), "set LINEPROOF_DATA to a directory that is readable for the service")
		return
	}
	r.judgeDiskSpace(check, "LINEPROOF_DATA", has)
}

// databaseDisk checks the free space for the database, where it can be known: by its directory if
// the server runs on this machine and the login may know it, otherwise by the size that
// LINEPROOF_JOURNAL_DISK_BYTES allows.
func (d *databaseChecks) databaseDisk(ctx context.Context) {
	const check = "database disk"
	if dir := d.localDirectory(ctx); dir != "" {
		if has, err := diskSpaceOf(dir); err == nil {
			d.judgeDiskSpace(check, dir, has)
			return
		}
	}
	used, err := journal.Measure(ctx, d.pool, time.Now())
	switch {
	case err != nil:
		d.failQuery(check, err)
	case d.cfg.JournalDiskBytes > 0:
		days := used.DaysLeft(d.cfg.JournalDiskBytes)
		found := fmt.Sprintf("LINEPROOF_JOURNAL_DISK_BYTES lasts for %.0f days", days)
		if math.IsInf(days, 1) {
			found = "the journal does not grow"
		}
		const do = "archive old days of the journal, or enlarge the disk"
		switch {
		case days < daysFail:
			d.fail(check, found, do)
		case days < daysWarn:
			d.warn(check, found, do)
		default:
			d.ok(check, found)
		}
	default:
		const found = "its free room cannot be seen from here"
		const do = "set LINEPROOF_JOURNAL_DISK_BYTES to what the database may use"
		if d.strict {
			d.warn(check, found, do)
		} else {
			d.ok(check, found+"; "+do)
		}
	}
}

// localDirectory returns the directory of the database if the server runs on this machine,
// and the login may know where; otherwise "".
func (d *databaseChecks) localDirectory(ctx context.Context) (dir string) {
	_ = pg.InTx(ctx, d.pool, func(tx pg.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL ROLE NONE`); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `SELECT setting FROM pg_settings WHERE name = 'data_directory' AND inet_server_addr() IS NOT DISTINCT FROM inet_client_addr()`).Scan(&dir)
	})
	return dir
}
