package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// Disk is a small file system of its own, an ext4 in a file. It can be filled
// to the last byte, and its power can be cut. It needs root.
type Disk struct {
	Dir string // where it is mounted

	image, ballast string
	done           func()
}

// NewDisk makes a disk of that many bytes.
func NewDisk(ctx context.Context, size int64) (*Disk, error) {
	base, err := os.MkdirTemp("", "lineproof-disk-")
	if err != nil {
		return nil, fmt.Errorf("pgtest: make a disk: %w", err)
	}
	d := &Disk{Dir: filepath.Join(base, "mounted"), image: filepath.Join(base, "image")}
	d.ballast = filepath.Join(d.Dir, "ballast")
	d.done, err = Afterwards(`umount "$0/mounted" || umount -l "$0/mounted"; rm -rf "$0"`, base)
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
	// Others than root must be able to reach what is mounted below.
	if err := errors.Join(os.Chmod(filepath.Dir(d.Dir), 0o755), os.Mkdir(d.Dir, 0o755), os.WriteFile(d.image, nil, 0o600), os.Truncate(d.image, size)); err != nil {
		return fmt.Errorf("pgtest: make a disk: %w", err)
	}
	if err := command(ctx, "mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0", d.image); err != nil {
		return err
	}
	return d.mount(ctx)
}

func (d *Disk) mount(ctx context.Context) error {
	return command(ctx, "mount", "-o", "loop", d.image, d.Dir)
}

// CutPower has the file system lose everything that it has not been told to
// keep, and fail whatever is done from now on.
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

// Restore mounts the disk again after its power was cut. Nobody may use it.
func (d *Disk) Restore(ctx context.Context) error {
	var err error
	for range 200 {
		if err = command(ctx, "umount", d.Dir); err == nil {
			return d.mount(ctx)
		}
		<-time.After(20 * time.Millisecond) // somebody is not quite gone
	}
	return err
}

// Sync returns once everything on the disk would survive a power cut.
func (d *Disk) Sync(ctx context.Context) error { return command(ctx, "sync", "-f", d.Dir) }

// Fill takes all the room that is left, to the last block.
func (d *Disk) Fill(ctx context.Context) error {
	if err := os.Mkdir(d.ballast, 0o700); err != nil {
		return fmt.Errorf("pgtest: fill the disk: %w", err)
	}
	files := 0
	for size := d.room(); size > 0; {
		files++
		if command(ctx, "fallocate", "-l", strconv.FormatInt(size, 10), filepath.Join(d.ballast, strconv.Itoa(files))) != nil {
			size /= 2 // not in one piece, or not quite as much
			continue
		}
		size = min(size, d.room())
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("pgtest: fill the disk: %w", err)
	}
	return nil
}

func (d *Disk) room() int64 { return freeBytes(d.Dir) }

// Free gives back what Fill took.
func (d *Disk) Free() error {
	if err := os.RemoveAll(d.ballast); err != nil {
		return fmt.Errorf("pgtest: free the disk: %w", err)
	}
	return nil
}

// Close removes the disk.
func (d *Disk) Close() { d.done() }

// Afterwards runs a shell script when done is called, or when this process has
// ended without calling it, however it ended. The arguments are $0, $1 and so
// on. It returns after the script has.
func Afterwards(script string, args ...string) (done func(), err error) {
	cmd := exec.Command("sh", append([]string{"-c", "read -r _\n" + script}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C at the terminal is not for it
	var stdin io.Closer
	if stdin, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("pgtest: prepare to clean up: %w", err)
	}
	return func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	}, nil
}

func command(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("pgtest: %s: %w\n%s", name, err, out)
	}
	return nil
}
