package nation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/receipt"
)

// maxReceipts is how many receipts the bank keeps for the monitor, which looks for all of
// them in the log.
const maxReceipts = 100

// startMonitor starts the monitor, which reads the public log from outside, and counts its
// verdicts.
func (n *nation) startMonitor(ctx context.Context) error {
	if err := n.files(n.path("receipts")); err != nil {
		return err
	}
	out, in := io.Pipe()
	go n.readVerdicts(out) // ends with the monitor
	return n.start(ctx, "monitor", in, "monitor", "--json", "--follow", "--every", "3s", "--log", n.base()+logPath,
		"--policy", n.path(policyFile), "--state", n.path("monitor"), "--receipts", n.path("receipts"))
}

// readVerdicts counts the reports of the monitor.
func (n *nation) readVerdicts(out io.Reader) {
	for d := json.NewDecoder(out); ; {
		var verdict struct {
			Found string `json:"found"`
			Size  int64  `json:"size"`
		}
		if err := d.Decode(&verdict); err != nil {
			return // the monitor has ended
		}
		if verdict.Found != "" {
			n.counts.violations.Add(1)
			continue
		}
		n.counts.checks.Add(1)
		n.counts.checked.Store(verdict.Size)
	}
}

// keepReceipt keeps a receipt of the bank's, so that the monitor can look for it.
func (n *nation) keepReceipt(v *client.Verification) {
	if i := n.counts.receipts.Add(1); i <= maxReceipts {
		if os.WriteFile(n.path("receipts", v.RequestID+".json"), v.Receipt, 0o600) != nil {
			n.counts.troubles.Add(1)
		}
	}
}

// watchLog counts the checkpoints of the public log that all witnesses have signed.
func (n *nation) watchLog(ctx context.Context) {
	text, err := os.ReadFile(n.path(policyFile))
	if err != nil {
		n.counts.troubles.Add(1)
		return
	}
	policy, err := receipt.ParsePolicy(string(text))
	if err != nil {
		n.counts.troubles.Add(1)
		return
	}
	for last := int64(0); ctx.Err() == nil; pause.For(ctx, 500*time.Millisecond) {
		size, err := n.checkpoint(ctx, policy)
		switch {
		case err != nil && ctx.Err() == nil:
			n.counts.troubles.Add(1)
		case size > last:
			last = size
			n.counts.checkpoints.Add(1)
			n.counts.entries.Store(size)
		}
	}
}

// checkpoint returns the size of the log in its newest checkpoint, or 0 if not all
// witnesses have signed it.
func (n *nation) checkpoint(ctx context.Context, policy *receipt.Policy) (int64, error) {
	var signed bytes.Buffer
	if err := get(ctx, n.base()+logPath+"/checkpoint", &signed); err != nil {
		return 0, err
	}
	text, seen, err := policy.Open(signed.String())
	if err != nil {
		return 0, fmt.Errorf("nation: %w", err)
	}
	lines := strings.Split(text, "\n")
	if len(lines) < 2 || len(seen) < len(witnesses) {
		return 0, nil
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("nation: %w", err)
	}
	return size, nil
}
