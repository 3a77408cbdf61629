package operate

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/internal/server/nodes"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const nodesCheck = "nodes"

// running returns the nodes that run, and reports those that stopped without a word.
func (d *databaseChecks) running(ctx context.Context) []nodes.Node {
	all, err := nodes.List(ctx, d.pool)
	if err != nil {
		d.failQuery(nodesCheck, err)
		return nil
	}
	return slices.DeleteFunc(all, func(n nodes.Node) bool {
		if n.Runs() {
			return false
		}
		d.risk(nodesCheck, fmt.Sprintf("%s was last seen %s ago, and did not stop in order", n.Name, n.Seen.Round(time.Second)), "start it; one that is gone for good is forgotten after a day")
		return true
	})
}

// nodes compares the nodes that run with the settings of this command, which should be those of
// one of them.
func (d *databaseChecks) nodes(running []nodes.Node, peppers *secret.Peppers) {
	if d.strict && len(running) < 2 {
		d.fail(nodesCheck, fmt.Sprintf("%d run: no other can answer when one is lost", len(running)), "start the service on a second machine")
	}
	if len(running) == 0 || peppers == nil {
		return
	}
	own, before := server.DescribeNode(d.cfg, peppers), len(d.findings)
	for _, n := range running {
		d.comparePeppers(own, n)
		d.compareFiles(own, n)
		if n.Version != own.Version {
			d.risk(nodesCheck, fmt.Sprintf("%s runs %s, and this program is %s", n.Name, n.Version, own.Version), "finish the upgrade on every node")
		}
		if !bytes.Equal(n.Peppers[0], own.Peppers[0]) {
			continue // what was signed with another pepper cannot be compared
		}
		if names := differing(own.Settings, n.Settings); len(names) > 0 {
			d.risk(nodesCheck, n.Name+" has other values than this command for "+listed(names), "set them to the same on every node, and restart those that differ")
		}
	}
	if len(d.findings) == before {
		d.ok(nodesCheck, fmt.Sprintf("%d run, and are set up alike", len(running)))
	}
}

// comparePeppers reports a node that would not accept what is hashed with these settings, or the
// other way around.
func (d *databaseChecks) comparePeppers(own, n nodes.Node) {
	knows := func(list [][]byte, newest []byte) bool {
		return slices.ContainsFunc(list, func(p []byte) bool { return bytes.Equal(p, newest) })
	}
	if n.Name == d.cfg.Node && knows(own.Peppers, n.Peppers[0]) {
		return // this node, before it is restarted with the next pepper
	}
	if !knows(own.Peppers, n.Peppers[0]) || !knows(n.Peppers, own.Peppers[0]) {
		d.fail(nodesCheck, n.Name+" hashes with another pepper: keys and sessions of one node are refused by the other", "set LINEPROOF_PEPPERS to the same list on every node, and restart them")
	}
}

// compareFiles reports a node whose documents are elsewhere.
func (d *databaseChecks) compareFiles(own, n nodes.Node) {
	here := own.Files
	if here == "" {
		here = nodes.Marked(server.DocumentDirectory(d.cfg), n.Name)
	}
	const do = "use a bucket, or a directory that every node has mounted"
	switch {
	case here == n.Files:
	case n.Name == d.cfg.Node:
		d.risk(nodesCheck, n.Name+" stores documents elsewhere than the settings of this command say", "run this command with the settings of the service, and from its directory")
	default:
		d.fail(nodesCheck, n.Name+" stores documents elsewhere: what is uploaded to one node is not found by the other", do)
	}
}

// differing returns the names whose values are not the same, sorted. One that only the other
// version of the program knows does not count.
func differing(a, b map[string]string) (names []string) {
	for name, value := range a {
		if other, ok := b[name]; ok && other != value {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// connections compares how many connections the nodes may open with what the database allows.
func (d *databaseChecks) connections(ctx context.Context, running []nodes.Node) {
	const check = "connections"
	const do = "raise max_connections in postgresql.conf, or lower LINEPROOF_VERIFY_CONNS, _SUPPLY_CONNS, _PEOPLE_CONNS or _JOB_CONNS"
	var allowed int
	err := d.pool.QueryRow(ctx, `SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int`).Scan(&allowed)
	own := d.cfg.Connections()
	all, count := 0, len(running)
	for _, n := range running {
		all += n.Connections
	}
	if !slices.ContainsFunc(running, func(n nodes.Node) bool { return n.Name == d.cfg.Node }) {
		all, count = all+own, count+1
	}
	switch {
	case err != nil:
		d.failQuery(check, err)
	case count > 1 && all > allowed:
		d.fail(check, fmt.Sprintf("%d nodes may open %d, and the database allows %d", count, all, allowed), do)
	case own > allowed:
		d.fail(check, fmt.Sprintf("a node may open %d, and the database allows %d", own, allowed), do)
	case count == 1 && 2*own > allowed:
		d.warn(check, fmt.Sprintf("a node may open %d, and the database allows %d: there is no room for a second node", own, allowed), "raise max_connections in postgresql.conf")
	case count > 1:
		d.ok(check, fmt.Sprintf("%d nodes may open %d, and the database allows %d", count, all, allowed))
	default:
		d.ok(check, fmt.Sprintf("a node may open %d, and the database allows %d: enough for %d nodes", own, allowed, allowed/own))
	}
}
