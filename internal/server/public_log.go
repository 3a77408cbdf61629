package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/logkey"
	"github.com/lineproof/lineproof/internal/evidence/logreceipt"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/web/logfiles"
	"github.com/lineproof/lineproof/receipt"
)

// publicLog is the public log, as far as the settings turn it on.
type publicLog struct {
	worker *publiclog.Worker // nil without a log
	files  *logfiles.Files   // nil without a key
	key    *logkey.Key       // nil without one
	next   *logkey.Key       // that signs, too; nil without one
	policy string            // whom those who verify receipts should believe; "" without a key
	// promises signs promises of receipts; nil without a key
	promises *logreceipt.Signer
}

func (s *service) openPublicLog(ctx context.Context) (err error) {
	cfg, p := s.cfg, &s.public
	if cfg.LogOrigin == "" {
		return nil
	}
	l := &publiclog.Log{Pool: s.lanes.jobs, Origin: cfg.LogOrigin}
	if err := l.Open(ctx); err != nil {
		return err
	}
	s.closers = append(s.closers, p.close)
	p.worker = &publiclog.Worker{Log: l, Observe: func(added publiclog.Added, err error) {
		if err != nil {
			s.metrics.LogFailed()
		}
		if added.Entries > 0 {
			s.metrics.LogGrew(added.Entries, time.Since(added.Oldest))
		}
	}}
	if cfg.LogKey == "" {
		return nil
	}
	if p.key, err = logkey.Open(ctx, cfg.LogKey, cfg.LogOrigin); err != nil {
		return err
	}
	if err := p.openMoreKeys(ctx, cfg, l); err != nil {
		return err
	}
	p.promises, err = logreceipt.NewSigner(ctx, p.key, time.Now(), func(ctx context.Context, verifier string) error { return l.UseKey(ctx, logentry.RolePromise, verifier) })
	if err != nil {
		return err
	}
	p.worker.Publisher = publiclog.NewPublisher(l, s.stores.Log, p.key)
	s.verifier.Promises, p.policy = p.promises, p.key.Verifier()
	if cfg.LogPolicy != "" {
		if p.worker.Publisher.Witnesses, p.policy, err = openWitnesses(cfg, p.key); err != nil {
			return err
		}
	}
	if w := p.worker.Publisher.Witnesses; w != nil {
		if err := l.UseKey(ctx, logentry.RoleWitnesses, w.PolicyHash); err != nil {
			return err
		}
	}
	p.files = &logfiles.Files{Pool: s.lanes.jobs, Tiles: s.stores.Log, Origin: cfg.LogOrigin, Verifier: p.key.Verifier()}
	if p.next != nil {
		p.files.Next = p.next.Verifier()
	}
	return nil
}

// openMoreKeys opens the keys that sign beside that of the log, and records all of them.
func (p *publicLog) openMoreKeys(ctx context.Context, cfg config.Config, l *publiclog.Log) (err error) {
	if err := l.UseKey(ctx, logentry.RoleLog, p.key.Verifier()); err != nil {
		return err
	}
	var postQuantum *logkey.PostQuantum
	if cfg.LogNextKey != "" {
		if p.next, err = logkey.Open(ctx, cfg.LogNextKey, cfg.LogOrigin); err != nil {
			return err
		}
		if err := l.UseKey(ctx, logentry.RoleNext, p.next.Verifier()); err != nil {
			return err
		}
	}
	if cfg.LogPostQuantumKey != "" {
		if postQuantum, err = logkey.OpenPostQuantum(cfg.LogPostQuantumKey, cfg.LogOrigin); err != nil {
			return err
		}
		if err := l.UseKey(ctx, logentry.RolePostQuantum, postQuantum.Verifier()); err != nil {
			return err
		}
	}
	p.key.SignWith(p.next, postQuantum)
	return nil
}

// openWitnesses reads the policy that names the witnesses.
func openWitnesses(cfg config.Config, key *logkey.Key) (*publiclog.Witnesses, string, error) {
	text, err := os.ReadFile(cfg.LogPolicy)
	if err != nil {
		return nil, "", fmt.Errorf("server: LINEPROOF_LOG_POLICY: %w", err)
	}
	policy, err := receipt.ParsePolicy(string(text))
	if err != nil {
		return nil, "", fmt.Errorf("server: LINEPROOF_LOG_POLICY: %w", err)
	}
	if policy.Log() != cfg.LogOrigin {
		return nil, "", errors.New("server: LINEPROOF_LOG_POLICY is the policy of another log than LINEPROOF_LOG_ORIGIN")
	}
	// Otherwise no signature of a witness could be verified, and none would be published.
	signed, err := key.SignCheckpoint(0, make([]byte, sha256.Size))
	if err != nil {
		return nil, "", err
	}
	if _, _, err := policy.Open(signed); err != nil {
		return nil, "", errors.New("server: the log in LINEPROOF_LOG_POLICY has another key than LINEPROOF_LOG_KEY and LINEPROOF_LOG_NEXT_KEY; put the public key of one of them into its line log (lineproof log key prints it)")
	}
	return &publiclog.Witnesses{Policy: policy, PolicyHash: fmt.Sprintf("%x", sha256.Sum256(text))}, string(text), nil
}

func (p *publicLog) close() {
	for _, key := range []*logkey.Key{p.key, p.next} {
		if key != nil {
			_ = key.Close()
		}
	}
}

// receipts returns what makes receipts, or nil without a published log.
func (p *publicLog) receipts(pool *pgxpool.Pool, stores *Stores) *logreceipt.Maker {
	if p.files == nil {
		return nil
	}
	return &logreceipt.Maker{Pool: pool, Archive: stores.Journal, Tiles: stores.Log, Origin: p.files.Origin}
}
