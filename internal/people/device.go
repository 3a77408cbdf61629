package people

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/people/internal/db"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/secret"
)

const (
	deviceToken secret.Prefix = "lp_dev_"

	// deviceLifetime is how long an unused device stays known.
	deviceLifetime = 180 * 24 * time.Hour
	// maxDevices is how many devices of an account are known; beyond it the one
	// that has been unused for longest is deleted.
	maxDevices = 20
)

// device is a device from which the account was logged in to before; the zero
// value means an unknown device.
type device struct{ id uuid.UUID }

// name identifies the device in the counters of login attempts.
func (d device) name() string {
	if d.id == uuid.Nil {
		return ""
	}
	return d.id.String()
}

// knownDevice returns the device with this token, if the account with this e-mail
// address knows it. The query is the same whether the account exists or not.
func (p *People) knownDevice(ctx context.Context, email, token string) (device, error) {
	if !strings.HasPrefix(token, string(deviceToken)) {
		return device{}, nil
	}
	key, _ := registry.EmailKey(email)
	row, err := db.New(p.Pool).KnownDevice(ctx, db.KnownDeviceParams{
		Macs: p.Peppers.Candidates(token), EmailKey: key, Since: p.now().Add(-deviceLifetime),
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return device{}, nil
	}
	if err != nil {
		return device{}, fmt.Errorf("people: find the device: %w", err)
	}
	return device{row.ID}, nil
}

// storeDevice updates the last use of a known device, or stores a new one and
// returns its token. A caller that sent no device token at all gets none.
func (p *People) storeDevice(ctx context.Context, q *db.Queries, account uuid.UUID, d device, sent string) (secret.Text, error) {
	now := p.now()
	if d.id != uuid.Nil {
		// The token is stored under the newest pepper, so that older ones can be retired.
		if err := q.TouchDevice(ctx, db.TouchDeviceParams{ID: d.id, At: now, Mac: p.Peppers.Sign(sent)}); err != nil {
			return "", fmt.Errorf("people: update a device: %w", err)
		}
		return "", nil
	}
	if sent == "" {
		return "", nil
	}
	token := secret.New(deviceToken)
	err := q.InsertDevice(ctx, db.InsertDeviceParams{ID: uuid.Must(uuid.NewV7()), AccountID: account, Mac: p.Peppers.Sign(token.Reveal()), CreatedAt: now})
	if err == nil {
		err = q.DeleteOldDevices(ctx, db.DeleteOldDevicesParams{AccountID: account, MaxDevices: maxDevices})
	}
	if err != nil {
		return "", fmt.Errorf("people: store a device: %w", err)
	}
	return token, nil
}
