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

	// deviceLife is how long a device is known that nobody uses.
	deviceLife = 180 * 24 * time.Hour
	// mostDevices of an account are known; the one that was not used for longest
	// is forgotten first.
	mostDevices = 20
)

// device is one from which the account was logged in to before; the zero value
// is none.
type device struct{ id uuid.UUID }

// name is what its guesses are counted under.
func (d device) name() string {
	if d.id == uuid.Nil {
		return ""
	}
	return d.id.String()
}

// knownDevice returns the device that shows text, if the account behind an
// address knows it. It asks alike whether there is such an account or not.
func (p *People) knownDevice(ctx context.Context, email, text string) (device, error) {
	if !strings.HasPrefix(text, string(deviceToken)) {
		return device{}, nil
	}
	key, _ := registry.EmailKey(email)
	row, err := db.New(p.Pool).KnownDevice(ctx, db.KnownDeviceParams{
		Macs: p.Peppers.Candidates(text), EmailKey: key, Since: p.now().Add(-deviceLife),
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return device{}, nil
	}
	if err != nil {
		return device{}, fmt.Errorf("people: look for the device: %w", err)
	}
	return device{row.ID}, nil
}

// keepDevice notes that a known device was used, and makes a new one known that
// wants to be. Whoever sends nothing gets nothing.
func (p *People) keepDevice(ctx context.Context, q *db.Queries, account uuid.UUID, d device, sent string) (secret.Text, error) {
	now := p.now()
	if d.id != uuid.Nil {
		// It is signed again under the newest pepper, so that older ones can go.
		if err := q.TouchDevice(ctx, db.TouchDeviceParams{ID: d.id, At: now, Mac: p.Peppers.Sign(sent)}); err != nil {
			return "", fmt.Errorf("people: note a device: %w", err)
		}
		return "", nil
	}
	if sent == "" {
		return "", nil
	}
	text := secret.New(deviceToken)
	err := q.InsertDevice(ctx, db.InsertDeviceParams{ID: uuid.Must(uuid.NewV7()), AccountID: account, Mac: p.Peppers.Sign(text.Reveal()), CreatedAt: now})
	if err == nil {
		err = q.DropOldDevices(ctx, db.DropOldDevicesParams{AccountID: account, Most: mostDevices})
	}
	if err != nil {
		return "", fmt.Errorf("people: keep a device: %w", err)
	}
	return text, nil
}
