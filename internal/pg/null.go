package pg

import (
	"net/netip"

	"github.com/google/uuid"
)

// ID returns an id as the database keeps it: the zero id is null.
func ID(id uuid.UUID) uuid.NullUUID { return uuid.NullUUID{UUID: id, Valid: id != uuid.Nil} }

// Address returns an address as the database keeps it: plain and without a zone,
// and nil where it is not known.
func Address(a netip.Addr) *netip.Addr {
	if !a.IsValid() {
		return nil
	}
	a = a.Unmap().WithZone("")
	return &a
}
