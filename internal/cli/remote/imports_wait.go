package remote

import (
	"context"
	"time"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/cli/console"
)

// importInterval is the time between two looks at an import.
const importInterval = time.Second

// waitForImport shows how far an import has come until it has ended or is held.
func (r *remote) waitForImport(ctx context.Context, c *client.Client, token client.Secret, id string) (*client.LineImport, error) {
	display := r.NewProgress(-1)
	defer display.End()
	for {
		im, err := c.Import(ctx, token, id)
		if err != nil {
			return nil, err
		}
		display.Rows(im.State, im.Rows)
		if im.IsEnded() || im.State == client.ImportHeld {
			return im, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(importInterval):
		}
	}
}

// importResult is the result of a command that has waited for an import: a problem if it is
// held, was rejected, or has rejected rows.
func importResult(im *client.LineImport) error {
	if im.Refused == 0 && (im.State == client.ImportApplied || im.State == client.ImportChecked) {
		return nil
	}
	return console.ErrProblems
}
