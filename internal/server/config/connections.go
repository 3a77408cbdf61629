package config

// ImportConns are the connections of all running imports: one for their locks, one for
// the search for new ones, and the rest for chunks. One chunk has its turn at a time, but
// slow ones go on after their turn.
const ImportConns = 8

// ImpactConns are the connections of the search for answers that changes make different: one
// for its locks, and two for each of its passes, which read the journal and histories.
const ImpactConns = 5

// Connections returns how many connections to the database a node may open.
func (c *Config) Connections() int {
	const listener = 1 // for the announcements of revoked credentials
	return c.VerifyConns + c.SupplyConns + c.PeopleConns + c.JobConns + ImportConns + ImpactConns + listener
}
