package server

import (
	"context"
	"encoding/hex"
	"log/slog"
	"path/filepath"

	"github.com/lineproof/lineproof/internal/platform/telemetry"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/server/nodes"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// DescribeNode returns how a node with these settings is set up, as it is recorded. If files are
// in a directory, Files is empty: only a running node writes there.
func DescribeNode(cfg config.Config, peppers *secret.Peppers) nodes.Node {
	n := nodes.Node{Name: cfg.Node, Version: telemetry.Version(), Connections: cfg.Connections(), Peppers: peppers.Candidates(secret.ForNodes, "pepper"), Settings: map[string]string{}}
	for name, value := range cfg.Shared() {
		n.Settings[name] = hex.EncodeToString(peppers.Sign(secret.ForNodes, "setting", name, value)[:8])
	}
	if cfg.S3Endpoint != "" {
		n.Files = cfg.S3Endpoint + "/" + cfg.S3Bucket
	}
	return n
}

// DocumentDirectory returns where documents are stored if not in a bucket.
func DocumentDirectory(cfg config.Config) string { return filepath.Join(cfg.Data, DocumentStore) }

// openNode opens what records this node. A directory that cannot be written to is no reason
// not to start: verifications do not need it.
func (s *service) openNode(ctx context.Context) error {
	n := DescribeNode(s.cfg, s.peppers)
	if n.Files == "" {
		mark, err := nodes.Mark(DocumentDirectory(s.cfg), s.cfg.Node)
		if err != nil {
			s.log.LogAttrs(ctx, slog.LevelWarn, "the directory of documents cannot be written to", slog.Any("error", err))
		}
		n.Files = mark
	}
	s.node = &nodes.Recorder{Pool: s.lanes.jobs, Node: n, Log: s.log}
	return nil
}
