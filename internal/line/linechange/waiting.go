package linechange

import (
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// WaitForPort keeps a row about a number of whose port to the network nothing is known, until the port is
// reported. Where the network that has the number has released it to this one, the row is the claim.
func (d *Comparison) WaitForPort() (Verdict, error) {
	h := d.Change.History()
	for i := range h.Events {
		if e := &h.Events[i]; d.Change.isWaitingRow(e, d.File.Network) {
			if sameContent(e.Base, d.File) {
				return Unchanged, nil
			}
			d.void(e) // only the newest waits
		}
	}
	d.keepBaseline(true)
	e := restatement(d.File, d)
	e.Outside = true
	d.add(e)
	if release, ok := d.Change.LoneHalf(line.ReleasePort, d.File.Network); ok && d.err == nil {
		claim := d.event(line.ClaimPort, max(release.Effective, min(d.File.Tenure, d.AsOf)))
		claim.Outside = true
		d.add(claim)
		if d.err = d.Change.SettleHalves(d.Rules); d.err == nil {
			d.err = d.Change.CompareWaitingRows(d.Rules)
		}
		if d.Change.RowAt(d.AsOf).Network == d.File.Network {
			return Changed, d.err
		}
		d.Change.RemoveLast() // the release was of another port, long ago
		d.Events = d.Events[:len(d.Events)-1]
	}
	return Kept, d.err
}

// isWaitingRow reports whether an event is a row of a network that waits for a port.
func (c *Change) isWaitingRow(e *line.Event, n numbering.Network) bool {
	return e.Restates() && e.Outside && e.Network == n && !c.IsVoided(e.Seq)
}

// CompareWaitingRows compares the rows of snapshots that waited for the port that brought the number to its
// network. It is called after each event that may be that port.
func (c *Change) CompareWaitingRows(r Rules) error {
	h := c.History()
	for i := range h.Events {
		row := &h.Events[i]
		if !c.isWaitingRow(row, c.Row.Network) || !c.Row.State.Ongoing() || c.RowAt(row.Effective).Network != row.Network {
			continue
		}
		d := Comparison{Rules: r, Change: c, File: row.Base, Dated: row.Base.Until != line.Never, Supplier: row.Supplier, AsOf: row.Effective, Last: line.Never}
		d.void(row)
		if d.err != nil {
			return d.err
		}
		d.Events = nil
		if _, err := d.Run(); err != nil {
			return err
		}
	}
	return nil
}

func sameContent(a, b *line.Baseline) bool {
	x, y := *a, *b
	x.Import, x.AsOf, y.Import, y.AsOf = 0, 0, 0, 0
	return x == y
}
