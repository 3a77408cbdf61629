package remote

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/cli/console"
)

// The directories in which a delivered file ends.
const (
	doneDir   = "done"
	failedDir = "failed"
)

// settledAge is how long a file must not have changed before it is sent: whoever writes it
// may still be at it.
const settledAge = 10 * time.Second

// delivery is a file in the watched directory. Its name says what it is.
type delivery struct {
	name, kind string
	asOf       time.Time
	day        bool // asOf is a day
}

var deliveryName = regexp.MustCompile(`^(snapshot|events)-(\d{4}-\d\d-\d\d(?:T\d{6}Z)?)(?:-[A-Za-z0-9_-]+)?\.csv(?:\.gz|\.zst)?$`)

// compare orders deliveries by their times: a day counts from its end, and its zone is not known here.
func (d delivery) compare(o delivery) int {
	end := func(d delivery) time.Time {
		if d.day {
			return d.asOf.AddDate(0, 0, 1)
		}
		return d.asOf
	}
	return cmp.Or(end(d).Compare(end(o)), cmp.Compare(d.name, o.name))
}

// parseDelivery reads the name of a file; ok is false if it is no delivery.
func parseDelivery(name string) (d delivery, ok bool) {
	found := deliveryName.FindStringSubmatch(name)
	if found == nil {
		return d, false
	}
	d = delivery{name: name, kind: found[1]}
	var err error
	if d.asOf, err = time.Parse("2006-01-02T150405Z", found[2]); err != nil {
		d.asOf, err = time.Parse(time.DateOnly, found[2])
		d.day = true
	}
	return d, err == nil
}

// inbox is a directory into which a supplier puts its files.
type inbox struct {
	*remote

	client   *client.Client
	dir      string
	settled  time.Duration
	problems bool            // a file failed, was held or had rejected rows
	warned   map[string]bool // names that were reported once
}

func (r *remote) linesWatchCommand() *cobra.Command {
	var once bool
	var interval, settled time.Duration
	cmd := &cobra.Command{
		Use: "watch DIR", Short: "Send every file that is put into a directory", Args: cobra.ExactArgs(1),
		Long: `Sends every supply file that is put into a directory, for example by SFTP every night, one after the other in the order of
their times, and waits for each. The name of a file says what it is: snapshot-2026-11-17.csv.gz or
events-2026-11-17T020000Z.csv, and after the time a word of your own may follow: events-2026-11-17-roaming.csv. Events are
complete up to the time in the name. A day means its end in the time zone of the regulator's policy, and now on the day
itself.

A file is sent when it has not changed for 10 seconds; write it under another name and rename it if that may not be
enough. Afterwards it is in DIR/done, with its rejected rows in NAME.rejected.csv beside it, or in DIR/failed, with the
reason in NAME.reason.txt. A file that is held stays until staff have decided, and so do those after it. If this command or
the machine stops, start it again: no file is applied twice.`,
		Example: "  lineproof api lines watch /srv/lineproof/outgoing\n  lineproof api lines watch --once /srv/lineproof/outgoing",
	}
	cmd.Flags().BoolVar(&once, "once", false, "end when the directory has no file to send; exit code 6 if one failed, is held or has rejected rows")
	cmd.Flags().DurationVar(&interval, "interval", 30*time.Second, "time between two looks at the directory")
	cmd.Flags().DurationVar(&settled, "settled", settledAge, "how long a file must not have changed before it is sent")
	r.tokenFlags(cmd)
	cmd.RunE = r.run(func(ctx context.Context, c *client.Client, args []string) error {
		if interval < time.Second || settled < 0 {
			return console.Usagef("--interval must be at least 1s, and --settled not below 0")
		}
		if once {
			interval = max(settled, time.Second) // what is not settled is waited for
		}
		b := &inbox{remote: r, client: c, dir: args[0], settled: settled, warned: map[string]bool{}}
		for _, sub := range []string{doneDir, failedDir} {
			if err := os.MkdirAll(filepath.Join(b.dir, sub), 0o750); err != nil {
				return err
			}
		}
		for {
			left, err := b.pass(ctx)
			switch {
			case err != nil && (once || ctx.Err() != nil):
				return err
			case err != nil:
				r.Note("%v; trying again", err)
			case once && left == 0:
				if b.problems {
					return console.ErrProblems
				}
				return nil
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(interval):
			}
		}
	})
	return cmd
}

// pass sends what is ready, and returns how many files are not settled yet.
func (b *inbox) pass(ctx context.Context) (unsettled int, err error) {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return 0, err
	}
	var ready []delivery
	for _, e := range entries {
		d, ok := parseDelivery(e.Name())
		info, err := e.Info()
		switch {
		case e.IsDir() || errors.Is(err, os.ErrNotExist):
		case err != nil:
			return 0, err
		case !ok || !info.Mode().IsRegular():
			if !b.warned[e.Name()] {
				b.warned[e.Name()] = true
				b.Note("%s: not sent; a name such as snapshot-2026-11-17.csv.gz or events-2026-11-17T020000Z.csv says what a file is", e.Name())
			}
		case time.Since(info.ModTime()) < b.settled:
			unsettled++
		default:
			ready = append(ready, d)
		}
	}
	slices.SortFunc(ready, delivery.compare)
	for _, d := range ready {
		held, err := b.deliver(ctx, d)
		if err != nil {
			return unsettled, fmt.Errorf("%s: %w", d.name, err)
		}
		if held {
			return 0, nil
		}
	}
	return unsettled, nil
}

// deliver sends one file and waits for it. The key is the hash of what is sent, so that a
// file that was sent before is found again and not imported twice.
func (b *inbox) deliver(ctx context.Context, d delivery) (held bool, err error) {
	token, err := b.token(ctx, b.client)
	if err != nil {
		return false, err
	}
	f, err := os.Open(filepath.Join(b.dir, d.name))
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	hash := sha256.New()
	fmt.Fprintf(hash, "%s %s %t\n", d.kind, d.asOf.Format(time.RFC3339), d.day)
	if _, err := io.Copy(hash, f); err != nil {
		return false, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	im, err := b.client.SendLines(ctx, token, client.LinesFile{
		Kind: d.kind, AsOf: d.asOf, Day: d.day, Content: f, IdempotencyKey: "watch-" + hex.EncodeToString(hash.Sum(nil)[:16]),
	})
	if problem, ok := errors.AsType[*client.Error](err); ok && isFinal(problem.StatusCode) {
		return false, b.fail(d, err.Error())
	}
	if err != nil {
		return false, err
	}
	b.Note("%s: import %s", d.name, im.ID)
	if im, err = b.waitForImport(ctx, b.client, token, im.ID); err != nil {
		return false, err
	}
	b.problems = b.problems || importResult(im) != nil
	switch im.State {
	case client.ImportHeld:
		if !b.warned[im.ID] {
			b.warned[im.ID] = true
			b.Note("%s: held until staff of the regulator have decided: %s", d.name, im.Reason)
		}
		return true, nil
	case client.ImportApplied:
		b.Note("%s: %d rows, %d rejected", d.name, im.Rows, im.Refused)
		if err := b.saveRejected(ctx, token, d, im); err != nil {
			return false, err
		}
		return false, b.move(d, doneDir)
	default:
		return false, b.fail(d, cmp.Or(im.Reason, "The import is "+im.State+"."))
	}
}

// isFinal reports whether the same request would fail again.
func isFinal(status int) bool {
	return status >= 400 && status < 500 && status != http.StatusUnauthorized && status != http.StatusTooManyRequests
}

func (b *inbox) move(d delivery, sub string) error {
	return os.Rename(filepath.Join(b.dir, d.name), filepath.Join(b.dir, sub, d.name))
}

// fail puts a file aside, with the reason beside it.
func (b *inbox) fail(d delivery, reason string) error {
	b.problems = true
	b.Note("%s: %s", d.name, reason)
	if err := os.WriteFile(filepath.Join(b.dir, failedDir, d.name+".reason.txt"), []byte(reason+"\n"), 0o600); err != nil {
		return err
	}
	return b.move(d, failedDir)
}

// saveRejected writes the rejected rows of an import, if there are any.
func (b *inbox) saveRejected(ctx context.Context, token client.Secret, d delivery, im *client.LineImport) error {
	if im.Refused == 0 {
		return nil
	}
	return writeWhole(filepath.Join(b.dir, doneDir, d.name+".rejected.csv"), func(w io.Writer) error { return b.client.RefusedRows(ctx, token, im.ID, w) })
}
