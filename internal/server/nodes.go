package server

import (
	"context"
	"encoding/hex"
	"log/slog"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/nodes"
	"github.com/lineproof/lineproof/internal/secret"
	"github.com/lineproof/lineproof/internal/telemetry"
)

// What is signed so that nodes can be compared. It is no credential.
const (
	nodePepper  = "lineproof pepper of a node"
	nodeSetting = "lineproof setting of a node, "
)

// DescribeNode returns how a node with these settings is set up, as it is recorded. If files are
// in a directory, Files is empty: only a running node writes there.
func DescribeNode(cfg config.Config, peppers *secret.Peppers) nodes.Node {
	n := nodes.Node{Name: cfg.Node, Version: telemetry.Version(), Connections: cfg.Connections(), Peppers: peppers.Candidates(nodePepper), Settings: map[string]string{}}
	for name, value := range cfg.Shared() {
		n.Settings[name] = hex.EncodeToString(peppers.Sign(nodeSetting + name + "=" + value)[:8])
	}
	if cfg.S3Endpoint != "" {
		n.Files = cfg.S3Endpoint + "/" + cfg.S3Bucket
	}
	return n
}

// DocumentDirectory returns where documents are stored if not in a bucket.
func DocumentDirectory(cfg config.Config) string { return filepath.Join(cfg.Data, DocumentStore) }

// recordNode returns what records this node. A directory that cannot be written to is no reason
// not to start: verifications do not need it.
func recordNode(ctx context.Context, cfg config.Config, pool *pgxpool.Pool, peppers *secret.Peppers, log *slog.Logger) *nodes.Recorder {
	n := DescribeNode(cfg, peppers)
	if n.Files == "" {
		mark, err := nodes.Mark(DocumentDirectory(cfg), cfg.Node)
		if err != nil {
			log.LogAttrs(ctx, slog.LevelWarn, "the directory of documents cannot be written to", slog.Any("error", err))
		}
		n.Files = mark
	}
	return &nodes.Recorder{Pool: pool, Node: n, Log: log}
}
