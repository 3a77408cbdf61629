package server

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/config"
)

// The names of the stores: of a directory in LINEPROOF_DATA, or of what every
// name in the bucket begins with.
const (
	DocumentStore = "documents"
	SupplyStore   = "supplies"
	JournalStore  = "journal"
)

// Stores are where files are kept: in LINEPROOF_DATA, or in a bucket.
type Stores struct {
	Documents, Supplies, Journal blob.Store
}

// OpenStores opens all of them, for the service and for the commands that need
// one. A bucket is not asked anything yet.
func OpenStores(cfg config.Config) (*Stores, error) {
	s := &Stores{}
	for name, store := range map[string]*blob.Store{DocumentStore: &s.Documents, SupplyStore: &s.Supplies, JournalStore: &s.Journal} {
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
			return nil, fmt.Errorf("server: keep %s in LINEPROOF_DATA: %w", name, err)
		}
		return d, nil
	}
	b, err := blob.OpenBucket(BucketOptions(cfg, name))
	if err != nil {
		return nil, fmt.Errorf("server: keep %s in the bucket: %w", name, err)
	}
	return b, nil
}

// BucketOptions says where the bucket is that keeps the store of that name.
func BucketOptions(cfg config.Config, name string) blob.BucketOptions {
	return blob.BucketOptions{
		Endpoint: cfg.S3Endpoint, Bucket: cfg.S3Bucket, Prefix: name + "/", Region: cfg.S3Region,
		AccessKey: cfg.S3AccessKey, SecretKey: cfg.S3SecretKey.Reveal(), SSE: cfg.S3SSE, KMSKey: cfg.S3KMSKey,
		Spool: filepath.Join(cfg.Data, "spool"),
	}
}

// Close closes those that are open.
func (s *Stores) Close() error {
	var failed error
	for _, store := range []blob.Store{s.Documents, s.Supplies, s.Journal} {
		if store != nil {
			failed = errors.Join(failed, store.Close())
		}
	}
	return failed
}
