package logreceipt

import (
	"context"
	"slices"
	"sync"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/platform/blob"
)

// maxManifests is how many manifests are kept: receipts are asked for by the day. That of a
// day with 10,000 answers a second has about a megabyte.
const maxManifests = 8

// manifests keeps the manifests of the archives that were used last. A manifest never
// changes: a day that is archived again, after an erasure, has another one.
type manifests struct {
	mu   sync.Mutex
	last []keptManifest // newest first
}

type keptManifest struct {
	of       archivefile.Archive
	manifest *archivefile.Manifest
}

// open returns the manifest of an archive. It is read only once.
func (k *manifests) open(ctx context.Context, files blob.Store, a *archivefile.Archive) (*archivefile.Manifest, error) {
	if m := k.find(a); m != nil {
		return m, nil
	}
	m, err := a.Open(ctx, files)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = slices.Insert(k.last[:min(len(k.last), maxManifests-1)], 0, keptManifest{*a, &m})
	return &m, nil
}

// find returns a manifest that is kept, and makes it the newest, or nil.
func (k *manifests) find(a *archivefile.Archive) *archivefile.Manifest {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.last, func(kept keptManifest) bool { return kept.of.Manifest == a.Manifest && kept.of.SHA256 == a.SHA256 })
	if i < 0 {
		return nil
	}
	found := k.last[i]
	copy(k.last[1:i+1], k.last[:i])
	k.last[0] = found
	return found.manifest
}
