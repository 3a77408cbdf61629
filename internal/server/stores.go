package server

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/server/config"
)

// The names of the stores. Each is a directory in LINEPROOF_DATA, or a prefix of
// the keys in the bucket.
const (
	DocumentStore = "documents"
	SupplyStore   = "supplies"
	JobStore      = "jobs"
	JournalStore  = "journal"
	LogStore      = "log"
	FeedStore     = "feeds"
)

// Stores are the file stores, in LINEPROOF_DATA or in a bucket.
type Stores struct {
	Documents, Supplies, Jobs, Journal, Log blob.Store
}

// OpenStores opens all stores. It does not connect to a bucket yet.
func OpenStores(cfg config.Config) (*Stores, error) {
	s := &Stores{}
	for name, store := range map[string]*blob.Store{DocumentStore: &s.Documents, SupplyStore: &s.Supplies, JobStore: &s.Jobs, JournalStore: &s.Journal, LogStore: &s.Log} {
		opened, err := OpenStore(cfg, name)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		*store = opened
	}
	return s, nil
}

// OpenStore opens the store of that name.
func OpenStore(cfg config.Config, name string) (blob.Store, error) {
	if cfg.S3Endpoint == "" {
		d, err := blob.OpenDir(filepath.Join(cfg.Data, name))
		if err != nil {
			return nil, fmt.Errorf("server: open the store %s in LINEPROOF_DATA: %w", name, err)
		}
		return d, nil
	}
	b, err := blob.OpenBucket(BucketOptions(cfg, name))
	if err != nil {
		return nil, fmt.Errorf("server: open the store %s in the bucket: %w", name, err)
	}
	return b, nil
}

// BucketOptions returns the options of the bucket for the store of that name.
func BucketOptions(cfg config.Config, name string) blob.BucketOptions {
	return blob.BucketOptions{
		Endpoint: cfg.S3Endpoint, Bucket: cfg.S3Bucket, Prefix: name + "/", Region: cfg.S3Region,
		AccessKey: cfg.S3AccessKey, SecretKey: cfg.S3SecretKey.Reveal(), SSE: cfg.S3SSE, KMSKey: cfg.S3KMSKey,
		Spool: filepath.Join(cfg.Data, "spool"),
	}
}

// Close closes the open stores.
func (s *Stores) Close() error {
	var failed error
	for _, store := range []blob.Store{s.Documents, s.Supplies, s.Jobs, s.Journal, s.Log} {
		if store != nil {
			failed = errors.Join(failed, store.Close())
		}
	}
	return failed
}
