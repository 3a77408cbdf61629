package pg

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// HostState is the answer of one host of a database url.
type HostState struct {
	Address string
	Err     error // it did not answer, or not as a database of ours
	Standby bool
	// Streams is true for a standby that is connected to another server.
	Streams bool
	// Position is how much of the log the host has, in bytes: written, or received.
	Position int64
}

// askTimeout bounds the questions to one host.
const askTimeout = 4 * time.Second

// AskHosts asks every host of a database url by itself, and all at once: the driver would be
// content with the first that is a primary.
func AskHosts(ctx context.Context, url string, o Options) ([]HostState, error) {
	o.ReadOnly = true
	cfg, err := Config(ctx, url, o)
	if err != nil {
		return nil, err
	}
	cfg.ConnConfig.ValidateConnect = nil // of the url: a standby shall answer, too
	single := singles(cfg.ConnConfig)
	all := make([]HostState, len(single))
	var wait sync.WaitGroup
	for i, c := range single {
		wait.Go(func() { all[i] = ask(ctx, c) })
	}
	wait.Wait()
	return all, nil
}

func ask(ctx context.Context, c *pgx.ConnConfig) HostState {
	s := HostState{Address: net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))}
	if strings.HasPrefix(c.Host, "/") {
		s.Address = c.Host
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		s.Err = unreachable(err, "")
		return s
	}
	defer conn.Close(ctx)
	// Everybody may see that a receiver exists; its details need more rights.
	err = conn.QueryRow(ctx, `SELECT pg_is_in_recovery(), EXISTS (SELECT FROM pg_stat_wal_receiver), pg_wal_lsn_diff(
			CASE WHEN pg_is_in_recovery() THEN greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) ELSE pg_current_wal_lsn() END, '0/0')::bigint`).
		Scan(&s.Standby, &s.Streams, &s.Position)
	if err != nil {
		s.Err = fmt.Errorf("pg: ask a host: %w", err)
	}
	return s
}
