package logreceipt

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/receipt"
)

// errSupplyPending reports a file that no published checkpoint covers yet.
var errSupplyPending = &fault.Error{
	Code: fault.Unavailable, RetryAfter: 2 * time.Second,
	Message: "The public log does not cover this file yet. That takes about a second; send the request again after the time in the Retry-After header.",
}

// MakeSupply returns the receipt of a file that a supplier supplied. Committed is what the
// entry of the log commits to.
func (m *Maker) MakeSupply(ctx context.Context, committed []byte, postQuantum bool) (*receipt.SupplyReceipt, error) {
	hash := sha256.Sum256(committed)
	index, at, err := publiclog.FindSupply(ctx, m.Pool, hash[:])
	if errors.Is(err, publiclog.ErrNotLogged) {
		return nil, errSupplyPending
	}
	if err != nil {
		return nil, err
	}
	r := &receipt.SupplyReceipt{Form: receipt.SupplyForm, Statement: receipt.SupplyStatement, Supply: committed, At: at.UnixMilli()}
	r.Proof, err = m.prove(ctx, index, r.Entry(), postQuantum)
	if errors.Is(err, ErrPending) {
		err = errSupplyPending
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}
