package supply

import (
	"context"
	"fmt"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// breaksAssurance reports whether a supplier had assured, before it reported an
// event, that everything up to then was reported. Rows of snapshots are not counted.
func (t *dailyCounts) breaksAssurance(e *line.Event) bool {
	if e.Import != 0 && e.ID == "" || t.coverage == nil {
		return false
	}
	topic, _ := e.Topic()
	covered := t.covered(e.Network, topic)
	return !covered.Through.IsZero() && e.Latest(t.policy.Zone()).Time().Before(covered.Through)
}

// covered returns the coverage of a topic.
func (t *dailyCounts) covered(n numbering.Network, topic line.Topic) line.Span {
	switch topic {
	case line.TopicSIM:
		return t.coverage(n).SIM
	case line.TopicPort:
		return t.coverage(line.Nation).Ports
	case line.TopicLifecycle:
	}
	return t.coverage(n).Lifecycle
}

// minBroken is how many false assurances it takes at least: a single late event of a
// small network is no pattern.
const minBroken = 20

// judgeAssurances marks the topics whose assurances were false too often within 30
// days. They do not count as fresh until 30 days have passed without a false one, or two people accept them.
func (t *dailyCounts) judgeAssurances(ctx context.Context, tx pg.Tx) error {
	suspects := make(map[numbering.Network]map[line.Topic]bool)
	for k, c := range t.days {
		if c.accepted == 0 {
			continue // refused reports say nothing about assurances
		}
		topic := line.TopicLifecycle
		switch {
		case k.network == line.Nation:
			topic = line.TopicPort
		case k.kind == line.ChangeSIM:
			topic = line.TopicSIM
		}
		if c.broken == 0 && (c.late > 0 || t.coverage == nil || !t.covered(k.network, topic).Doubtful) {
			continue
		}
		if suspects[k.network] == nil {
			suspects[k.network] = make(map[line.Topic]bool)
		}
		suspects[k.network][topic] = true
	}
	for n, topics := range suspects {
		for topic := range topics {
			var accepted, broken int64
			err := tx.QueryRow(ctx, `SELECT coalesce(sum(accepted), 0)::bigint, coalesce(sum(broken), 0)::bigint FROM supply_day
				WHERE network = $1 AND day > greatest($2, (SELECT accepted_on FROM supply_coverage WHERE network = $1 AND topic = $5))
				AND kind > 0 AND (kind = $3) = $4`,
				n, day(t.now).AddDate(0, 0, -30), int16(line.ChangeSIM), topic == line.TopicSIM, topic).Scan(&accepted, &broken)
			if err != nil {
				return fmt.Errorf("supply: count false assurances: %w", err)
			}
			if doubtful := broken >= minBroken && broken*100 > accepted*int64(t.policy.FalseAssurancePercent); doubtful || broken == 0 {
				if err := linestore.MarkDoubtful(ctx, tx, n, topic, doubtful, t.now); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
