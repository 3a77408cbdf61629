package operate

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/internal/server/config"
)

// bucket checks that files can be written, read, listed and deleted in the
// bucket under each prefix that the service uses. It leaves nothing behind.
func (r *report) bucket(ctx context.Context, cfg config.Config) {
	const check = "bucket"
	if cfg.S3Endpoint == "" {
		r.ok(check, "none is set; files are kept in LINEPROOF_DATA, which works for one node only")
		return
	}
	for _, name := range []string{server.DocumentStore, server.SupplyStore, server.JournalStore, server.LogStore, server.FeedStore} {
		o := server.BucketOptions(cfg, name)
		o.Spool, o.Timeout, o.Idle = os.TempDir(), 3*time.Second, 3*time.Second
		b, err := blob.OpenBucket(o)
		if err == nil {
			err = errors.Join(b.Check(ctx), b.Close())
		}
		switch {
		case errors.Is(err, blob.ErrUnavailable):
			r.fail(check, err.Error(), "check LINEPROOF_S3_ENDPOINT, and that the server runs and can be reached from here")
			return
		case err != nil:
			r.fail(check, err.Error(), "check the settings LINEPROOF_S3_*, that the key may read, write, delete and list under "+name+"/, and that the server supports If-None-Match")
			return
		}
	}
	r.ok(check, "files can be written, read and deleted in "+cfg.S3Bucket+", and cannot be overwritten")
}
