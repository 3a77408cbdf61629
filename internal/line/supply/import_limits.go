package supply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// ImportLimits are limits of a file that was sent to the API or uploaded in the portal. A file beyond them is
// rejected before anything of it is applied. The command has no such limits: the
// regulator chooses its files. A limit of zero is none.
type ImportLimits struct {
	Rows      int64         // lines of the file, without the header
	CheckTime time.Duration // from the start of the check to its end, in one process
}

var errCheckTimeout = errors.New("supply: the check of a file took too long")

// checkInTime is check with the limit of time.
func (r *importRun) checkInTime(ctx context.Context) error {
	limit := r.service.Limits.CheckTime
	if r.im.Source == "cli" || limit == 0 {
		return r.check(ctx)
	}
	limited, cancel := context.WithTimeoutCause(ctx, limit, errCheckTimeout)
	defer cancel()
	err := r.check(limited)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(limited), errCheckTimeout) {
		return fault.New(fault.PayloadTooLarge, fmt.Sprintf("The check of the file was not finished after %s, and nothing of the file is applied. "+
			"Check that it has one row for each line or event, then send it again. If it does, ask the regulator to import it with the command, "+
			"or to raise LINEPROOF_IMPORT_CHECK_TIMEOUT.", shortDuration(limit))).Because(err)
	}
	return err
}

// shortDuration is 12h instead of 12h0m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// checkRows refuses a file that has too many lines up to a chunk. Empty lines count:
// they are read, too.
func (r *importRun) checkRows(c *chunk) error {
	if r.im.Source == "cli" {
		return nil
	}
	rows := c.place - 2 // place is the line after the chunk, and the first line is the header
	if limit := r.service.Limits.Rows; limit > 0 && rows > limit {
		return fault.New(fault.PayloadTooLarge, fmt.Sprintf("The file has more than %d lines, and nothing of it is applied. "+
			"Send each line of the network once in a snapshot, and split events into several files. "+
			"If the file must be larger, ask the regulator to raise LINEPROOF_IMPORT_MAX_ROWS.", limit))
	}
	if r.im.hasLines() && rows > r.planNumbers {
		return fault.New(fault.PayloadTooLarge, fmt.Sprintf("The snapshot has more rows than the %d numbers of the numbering plan, and nothing of it is applied. "+
			"Send each line of the network once.", r.planNumbers))
	}
	return nil
}

// countPlanNumbers returns how many numbers the ranges of all networks have.
func (r *importRun) countPlanNumbers() (total int64) {
	for _, n := range r.rules.plan.Networks() {
		total += r.rules.plan.Capacity(n, r.rules.now)
	}
	return total
}
