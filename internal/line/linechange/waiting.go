package linechange

import (
	"slices"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// WaitForPort keeps a row about a number of whose port to the network nothing is
// known. It counts when the port is reported. It returns NoEffect if the number was
// with the network and has left it.
func (d *Comparison) WaitForPort() (Verdict, error) {
	h := d.Change.History()
	_, outcomes := line.Fold(h, d.Change.Terms, line.Forever)
	var row *line.Event // that waits already
	for i := range h.Events {
		if e := &h.Events[i]; isWaitingRow(e, d.File.Network) && outcomes[i] == line.Pending {
			row = e
		}
	}
	if row != nil && sameContent(row.Base, d.File) {
		return Unchanged, nil
	}
	if row != nil {
		d.void(row) // only the newest waits
	}
	e := restatement(d.File, d.AsOf, 0)
	e.Outside = true
	d.keepBaseline(&e)
	d.add(e)
	if d.outcomes()[d.Events[len(d.Events)-1].Seq] != line.Pending {
		d.clear()
		return NoEffect, d.err
	}
	return Waiting, d.err
}

// isWaitingRow reports whether an event is a row of a network that waited for a port.
func isWaitingRow(e *line.Event, n numbering.Network) bool {
	return e.Kind == line.Restate && e.Outside && e.Network == n
}

// JudgeWaitingRow judges a row of a snapshot that waited for a port, where the event
// that was added last lets it count: then it restates what was known of the line, and
// a restatement can be held.
func (c *Change) JudgeWaitingRow(r Rules) error {
	h := c.History()
	if !slices.ContainsFunc(h.Events, func(e line.Event) bool { return isWaitingRow(&e, c.Row.Network) }) {
		return nil
	}
	_, now := line.Fold(h, c.Terms, line.Forever)
	h.Events = h.Events[:len(h.Events)-1]
	_, before := line.Fold(h, c.Terms, line.Forever)
	for i := range h.Events {
		row := &h.Events[i]
		if !isWaitingRow(row, c.Row.Network) || now[i] != line.Applied || before[i] != line.Pending {
			continue
		}
		d := Comparison{Rules: r, Change: c, File: row.Base, Dated: true, Supplier: row.Supplier, AsOf: row.Effective, Last: line.Never}
		d.void(row)
		d.Events = nil
		v, err := d.Run()
		if v != Waiting || err != nil {
			c.remove(len(d.Events) + 1) // it counts by itself
		}
		return err
	}
	return nil
}

// void withdraws an event of the network.
func (d *Comparison) void(target *line.Event) {
	e := d.event(line.Void, target.Effective)
	e.Target = target.Seq
	d.add(e)
}

func sameContent(a, b *line.Baseline) bool {
	x, y := *a, *b
	x.Import, x.AsOf, y.Import, y.AsOf = 0, 0, 0, 0
	return x == y
}
