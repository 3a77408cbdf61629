package policy

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"
	_ "time/tzdata" // the program must know every zone on a machine that has no zone files
)

// zones has the zones that were loaded, by name. Each is loaded once: with a copy for
// each policy, equal policies would differ, and every look at the history would read
// files.
var zones = struct {
	sync.Mutex
	loaded map[string]*time.Location
}{loaded: map[string]*time.Location{}}

// zoneName is the form of a name in the IANA database. It excludes what only some
// machines have beside the database, such as Local, localtime or right/Africa/Lagos.
var zoneName = regexp.MustCompile(`^(UTC|[A-Z][A-Za-z]+(/[A-Z][A-Za-z0-9_+-]*)+)$`)

var errZone = errors.New("not the name of a time zone")

// loadZone returns the time zone with that name in the IANA database.
func loadZone(name string) (*time.Location, error) {
	if len(name) > maxTimeZone || !zoneName.MatchString(name) {
		return nil, errZone
	}
	zones.Lock()
	defer zones.Unlock()
	if zone := zones.loaded[name]; zone != nil {
		return zone, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("load the time zone: %w", err)
	}
	zones.loaded[name] = zone
	return zone, nil
}
