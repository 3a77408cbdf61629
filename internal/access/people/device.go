package people

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
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
	if !secret.Is(deviceToken, token) {
		return device{}, nil
	}
	key, _ := registry.EmailKey(email)
	var d device
	err := p.Pool.QueryRow(ctx, `SELECT d.id FROM login_device d JOIN account a ON a.id = d.account_id
		WHERE d.mac = ANY($1::bytea[]) AND a.email_key = $2 AND d.last_used_at > $3`, p.Peppers.Candidates(secret.ForDevices, token), key, p.now().Add(-deviceLifetime)).Scan(&d.id)
	if errors.Is(err, pgx.ErrNoRows) {
		return device{}, nil
	}
	if err != nil {
		return device{}, fmt.Errorf("people: find the device: %w", err)
	}
	return d, nil
}

// storeDevice updates the last use of a known device, or stores a new one and
// returns its token. A caller that sent no device token at all gets none.
func (p *People) storeDevice(ctx context.Context, tx pg.Tx, account uuid.UUID, d device, sent string) (secret.Text, error) {
	now := p.now()
	if d.id != uuid.Nil {
		// The token is stored under the newest pepper, so that older ones can be retired.
		_, err := tx.Exec(ctx, `UPDATE login_device SET last_used_at = $2, mac = $3 WHERE id = $1`, d.id, now, p.Peppers.Sign(secret.ForDevices, sent))
		return "", fault.Wrap(err, "people: update a device")
	}
	if sent == "" {
		return "", nil
	}
	token := secret.New(deviceToken)
	_, err := tx.Exec(ctx, `INSERT INTO login_device (id, account_id, mac, last_used_at, created_at) VALUES ($1, $2, $3, $4, $4)`,
		uuid.Must(uuid.NewV7()), account, p.Peppers.Sign(secret.ForDevices, token.Reveal()), now)
	if err == nil {
		_, err = tx.Exec(ctx, `DELETE FROM login_device WHERE id IN (SELECT d.id FROM login_device d WHERE d.account_id = $1 ORDER BY d.last_used_at DESC OFFSET $2)`, account, maxDevices)
	}
	if err != nil {
		return "", fmt.Errorf("people: store a device: %w", err)
	}
	return token, nil
}

// forgetDevices deletes the devices that an account knows.
func forgetDevices(ctx context.Context, tx pg.Tx, account uuid.UUID) error {
	_, err := tx.Exec(ctx, `DELETE FROM login_device WHERE account_id = $1`, account)
	return err
}
