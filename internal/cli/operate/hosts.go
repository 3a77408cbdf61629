package operate

import (
	"context"
	"fmt"
	"strings"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/server/config"
)

// maxBehind is how many bytes of the log a standby may lack before that is worth a word. The
// synchronous one lacks none when a commit is confirmed.
const maxBehind = 64 << 20

// hosts asks every host of the database by itself. The service needs only the primary, so
// without --ha another one that is missing is a warning.
func (r *report) hosts(ctx context.Context, cfg config.Config, behindAllowed int64) {
	const check = "hosts"
	all, err := pg.AskHosts(ctx, cfg.DatabaseURL.Reveal(), pg.Options{Role: cfg.DatabaseRole, Unverified: cfg.UnverifiedDatabase()})
	if err != nil {
		return // the connection says more about a url that is malformed
	}
	if len(all) == 1 {
		if r.strict {
			r.fail(check, "LINEPROOF_DATABASE_URL names one host: no other can take over", "name every member of the cluster, separated by commas")
		}
		return
	}
	var primaries, silent, detached []string
	var written int64
	for _, h := range all {
		switch {
		case h.Err != nil:
			silent = append(silent, h.Address)
		case !h.Standby:
			primaries, written = append(primaries, h.Address), max(written, h.Position)
		case !h.Streams:
			detached = append(detached, h.Address)
		}
	}
	var late []string
	for _, h := range all {
		if lack := written - h.Position; h.Err == nil && h.Standby && len(primaries) == 1 && lack > behindAllowed {
			late = append(late, fmt.Sprintf("%s by %d MiB", h.Address, lack>>20))
		}
	}
	switch {
	case len(primaries) > 1:
		r.fail(check, strings.Join(primaries, " and ")+" both accept writes: records go to two databases", "stop the service on every node, then find out which one is the leader")
	case len(primaries) == 0:
		r.fail(check, fmt.Sprintf("none of %d is a primary", len(all)), "see the cluster's own list, such as patronictl list")
	}
	if len(silent) > 0 {
		r.risk(check, fmt.Sprintf("%d of %d do not answer: %s", len(silent), len(all), listed(silent)), "repair them, or correct LINEPROOF_DATABASE_URL: they could not take over")
	}
	if len(detached) > 0 {
		r.risk(check, "standbys that receive nothing from a primary: "+listed(detached), "see their logs")
	}
	if len(late) > 0 {
		r.risk(check, "standbys that are behind: "+listed(late), "see their logs")
	}
	if len(primaries) == 1 && len(silent)+len(detached)+len(late) == 0 {
		r.ok(check, fmt.Sprintf("all %d answer; %s is the primary", len(all), primaries[0]))
	}
}
