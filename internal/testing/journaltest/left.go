package journaltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/klauspost/compress/zstd"
)

// BytesLeft returns in which files of the database, and of a directory with archives, one
// of the texts still stands. The caller is a superuser, on the database's machine.
func BytesLeft(ctx context.Context, db *pgxpool.Pool, archives string, texts [][]byte) (left []string, err error) {
	if _, err := db.Exec(ctx, "CHECKPOINT"); err != nil {
		return nil, err
	}
	var data, base string
	err = db.QueryRow(ctx, `SELECT current_setting('data_directory'), 'base/' || oid FROM pg_database WHERE datname = current_database()`).Scan(&data, &base)
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	for _, dir := range []string{filepath.Join(data, base), filepath.Join(data, "global"), archives} {
		err := filepath.WalkDir(dir, func(path string, f fs.DirEntry, err error) error {
			if err != nil || f.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				return nil // the database has just deleted it
			}
			if plain, notCompressed := decoder.DecodeAll(content, nil); notCompressed == nil {
				content = append(content, plain...)
			}
			for _, text := range texts {
				if bytes.Contains(content, text) {
					left = append(left, fmt.Sprintf("%q in %s", text, path))
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return left, nil
}
