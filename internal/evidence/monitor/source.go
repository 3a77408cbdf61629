package monitor

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/values/merkle"
)

// Source is where a log is read: the address below which its files are.
type Source string

// maxFile is more than the bytes of any file of a log.
const maxFile = 256 << 16

var client = &http.Client{Timeout: 30 * time.Second}

// Checkpoint returns the newest checkpoint.
func (s Source) Checkpoint(ctx context.Context) (string, error) {
	content, err := s.get(ctx, "checkpoint")
	return string(content), err
}

// Tile returns a tile.
func (s Source) Tile(ctx context.Context, t merkle.Tile) ([]byte, error) {
	return s.get(ctx, t.Path())
}

func (s Source) get(ctx context.Context, path string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(string(s), "/")+"/"+path, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("monitor: read %s: %w", path, err)
	}
	res, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("monitor: read %s: %w", path, err)
	}
	defer res.Body.Close()
	content, err := io.ReadAll(io.LimitReader(res.Body, maxFile))
	if err != nil {
		return nil, fmt.Errorf("monitor: read %s: %w", path, err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("monitor: read %s: the log answers %d", path, res.StatusCode)
	}
	return content, nil
}
