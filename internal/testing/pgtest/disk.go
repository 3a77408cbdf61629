package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// Disk is a small ext4 file system in a file. A test can fill it to the last
// byte and simulate a power cut. It needs root.
type Disk struct {
	Dir string // where it is mounted

	image, ballast string
	done           func()
}

// NewDisk creates a disk of size bytes.
func NewDisk(ctx context.Context, size int64) (*Disk, error) {
	base, err := os.MkdirTemp("", "lineproof-disk-")
	if err != nil {
		return nil, fmt.Errorf("pgtest: create a disk: %w", err)
	}
	d := &Disk{Dir: filepath.Join(base, "mounted"), image: filepath.Join(base, "image")}
	d.ballast = filepath.Join(d.Dir, "ballast")
	d.done, err = process.AtExit(`umount "$0/mounted" || umount -l "$0/mounted"; rm -rf "$0"`, base)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(base))
	}
	if err := d.format(ctx, size); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Disk) format(ctx context.Context, size int64) error {
	// Users other than root must be able to reach the mount point.
	if err := errors.Join(os.Chmod(filepath.Dir(d.Dir), 0o755), os.Mkdir(d.Dir, 0o755), os.WriteFile(d.image, nil, 0o600), os.Truncate(d.image, size)); err != nil {
		return fmt.Errorf("pgtest: create a disk: %w", err)
	}
	if err := command(ctx, "mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0", d.image); err != nil {
		return err
	}
	return d.mount(ctx)
}

func (d *Disk) mount(ctx context.Context) error {
	return command(ctx, "mount", "-o", "loop", d.image, d.Dir)
}

// CutPower makes the file system lose everything that was not flushed, and fail
// every operation from now on.
func (d *Disk) CutPower() error {
	f, err := os.Open(d.Dir)
	if err != nil {
		return fmt.Errorf("pgtest: cut the power: %w", err)
	}
	defer f.Close()
	const shutdown = 0x8004587d // FS_IOC_SHUTDOWN
	withoutFlush := uint32(2)   // the journal of the file system is not written either
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&withoutFlush)))
	if errno != 0 {
		return fmt.Errorf("pgtest: cut the power: %w", errno)
	}
	return nil
}

// Restore mounts the disk again after CutPower. No process may have files open
// on it.
func (d *Disk) Restore(ctx context.Context) error {
	var err error
	for range 200 {
		if err = command(ctx, "umount", d.Dir); err == nil {
			return d.mount(ctx)
		}
		<-time.After(20 * time.Millisecond) // a process has not quite ended
	}
	return err
}

// Sync returns once everything on the disk would survive a power cut.
func (d *Disk) Sync(ctx context.Context) error { return command(ctx, "sync", "-f", d.Dir) }

// Fill allocates all free space, to the last block.
func (d *Disk) Fill(ctx context.Context) error {
	if err := os.Mkdir(d.ballast, 0o700); err != nil {
		return fmt.Errorf("pgtest: fill the disk: %w", err)
	}
	files := 0
	for size := freeBytes(d.Dir); size > 0; {
		files++
		if command(ctx, "fallocate", "-l", strconv.FormatInt(size, 10), filepath.Join(d.ballast, strconv.Itoa(files))) != nil {
			size /= 2 // not contiguous, or not quite as much
			continue
		}
		size = min(size, freeBytes(d.Dir))
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("pgtest: fill the disk: %w", err)
	}
	return nil
}

// Free releases what Fill allocated.
func (d *Disk) Free() error {
	if err := os.RemoveAll(d.ballast); err != nil {
		return fmt.Errorf("pgtest: free the disk: %w", err)
	}
	return nil
}

// Close removes the disk.
func (d *Disk) Close() { d.done() }

func command(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("pgtest: %s: %w\n%s", name, err, out)
	}
	return nil
}
