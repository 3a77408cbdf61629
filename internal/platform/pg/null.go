package pg

import (
	"net/netip"

	"github.com/google/uuid"
)

// ID returns an id for a nullable column: the zero id is NULL.
func ID(id uuid.UUID) uuid.NullUUID { return uuid.NullUUID{UUID: id, Valid: id != uuid.Nil} }

// Address returns an IP address for a nullable column: IPv4 addresses are
// unmapped, the zone is removed, and an invalid address is NULL.
func Address(a netip.Addr) *netip.Addr {
	if !a.IsValid() {
		return nil
	}
	a = a.Unmap().WithZone("")
	return &a
}
