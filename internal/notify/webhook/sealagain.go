package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// sealAgain encrypts every key that was encrypted under an older pepper again under the
// newest, so that the older one can be removed. What fails is logged, and tried again at the
// next start.
func (s *Sender) sealAgain(ctx context.Context) {
	if !s.Service.Peppers.Rotating() {
		return
	}
	endpoints, err := s.Service.sealedKeys(ctx)
	if err != nil && ctx.Err() == nil {
		s.Log.LogAttrs(ctx, slog.LevelError, "webhook keys can't be encrypted again; tried again at the next start", slog.String("error", err.Error()))
	}
	if err != nil {
		return
	}
	var again, failed int
	for i := range endpoints {
		e := &endpoints[i]
		keys := [][]byte{e.encryptedKey}
		if s.Service.now().Before(e.PreviousUntil) { // one that has expired never signs again
			keys = append(keys, e.previousEncryptedKey)
		}
		for _, encrypted := range keys {
			changed, err := s.Service.encryptKeyAgain(ctx, e, encrypted)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				failed++
				s.Log.LogAttrs(ctx, slog.LevelError, "a webhook key can't be encrypted again; tried again at the next start", slog.String("endpoint", e.ID.String()), slog.String("error", err.Error()))
			}
			if changed {
				again++
			}
		}
	}
	s.Log.LogAttrs(ctx, slog.LevelInfo, "webhook keys are encrypted with the first pepper", slog.Int("again", again), slog.Int("failed", failed))
}

// sealedKeys returns the endpoints of all organisations, in any state, with nothing but their
// keys and what is needed to open them.
func (s *Service) sealedKeys(ctx context.Context) ([]Endpoint, error) {
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	list, err := pg.Collect(ctx, s.Pool, func(row pgx.CollectableRow) (e Endpoint, err error) {
		var until *time.Time
		err = row.Scan(&e.ID, &e.entity, &e.Mode, &e.URL, &e.encryptedKey, &e.previousEncryptedKey, &until)
		e.PreviousUntil = orZero(until)
		return e, err
	}, `SELECT id, entity_id, mode, url, key, previous_key, previous_until FROM hook_endpoint`)
	return list, fault.Wrap(err, "webhook: read keys")
}

// encryptKeyAgain encrypts a stored key under the newest pepper, unless it is already. If the
// key is rolled meanwhile, the new one stays, and this one is the previous key. The version
// of the endpoint stays, because its senders can go on with what they have read.
func (s *Service) encryptKeyAgain(ctx context.Context, e *Endpoint, encrypted []byte) (changed bool, err error) {
	key, outdated, err := s.decryptKey(e, encrypted)
	if err != nil || !outdated {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	done, err := s.Pool.Exec(ctx, `UPDATE hook_endpoint SET key = CASE WHEN key = $2 THEN $3 ELSE key END, previous_key = CASE WHEN previous_key = $2 THEN $3 ELSE previous_key END
		WHERE id = $1 AND (key = $2 OR previous_key = $2)`, e.ID, encrypted, s.encryptKey(e, key))
	if err != nil {
		return false, fmt.Errorf("webhook: store a key: %w", err)
	}
	return done.RowsAffected() > 0, nil
}
