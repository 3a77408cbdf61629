package supply

import (
	"context"
	"fmt"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linestore"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/pg"
)

// breaksAssurance reports whether a supplier had assured, before it reported an
// event, that everything up to then was reported. Rows of snapshots are not counted.
func (t *dailyCounts) breaksAssurance(e *line.Event) bool {
	if e.Import != 0 && e.ID == "" || t.coverage == nil {
		return false
	}
	covered := t.coverage(e.Network).Lifecycle
	switch topic, _ := e.Topic(); topic {
	case line.TopicSIM:
		covered = t.coverage(e.Network).SIM
	case line.TopicPort:
		covered = t.coverage(line.Nation).Ports
	case line.TopicLifecycle:
	}
	return !covered.Through.IsZero() && e.Latest(t.policy.Zone()).Time().Before(covered.Through)
}

// minBroken is how many false assurances it takes at least: a single late event of a
// small network is no pattern.
const minBroken = 20

// judgeAssurances marks the topics whose assurances were false too often within 30
// days. They do not count as fresh until staff accept them again.
func (t *dailyCounts) judgeAssurances(ctx context.Context, tx pg.Tx) error {
	suspects := make(map[numbering.Network]map[line.Topic]bool)
	for k, c := range t.days {
		if c.broken == 0 {
			continue
		}
		if suspects[k.network] == nil {
			suspects[k.network] = make(map[line.Topic]bool)
		}
		topic := line.TopicLifecycle
		switch {
		case k.network == line.Nation:
			topic = line.TopicPort
		case k.kind == line.ChangeSIM:
			topic = line.TopicSIM
		}
		suspects[k.network][topic] = true
	}
	for n, topics := range suspects {
		for topic := range topics {
			var accepted, broken int64
			err := tx.QueryRow(ctx, `SELECT coalesce(sum(accepted), 0)::bigint, coalesce(sum(broken), 0)::bigint FROM supply_day
				WHERE network = $1 AND day > $2 AND kind > 0 AND (kind = $3) = $4`,
				n, day(t.now).AddDate(0, 0, -30), int16(line.ChangeSIM), topic == line.TopicSIM).Scan(&accepted, &broken)
			if err != nil {
				return fmt.Errorf("supply: count false assurances: %w", err)
			}
			if broken < minBroken || broken*100 <= accepted*int64(t.policy.FalseAssurancePercent) {
				continue
			}
			if err := linestore.MarkDoubtful(ctx, tx, n, topic, true, t.now); err != nil {
				return err
			}
		}
	}
	return nil
}
