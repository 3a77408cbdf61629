package cli

import (
	"fmt"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/phone"
)

// demoNumber is the number that the printed curl command asks about.
const demoNumber = "+2348031234567"

// demoNetworks are the networks of the demonstration, with a range of each.
var demoNetworks = []struct{ name, prefix string }{
	{"MTN", "+234806"}, {"Airtel", "+234802"}, {"Glo", "+234805"}, {"9mobile", "+234809"},
}

// demoStatuses are all statuses, in the order of precedence.
var demoStatuses = []line.Status{
	line.Blacklisted, line.Barred, line.Flagged, line.Quarantined, line.Recycled, line.Swapped, line.Ported,
	line.PendingChurn, line.Parked, line.Inactive, line.Normal, line.Unallocated, line.Unknown,
}

const (
	linesPerNetwork = 1250
	// scatter spreads the numbers over a range. It has no factor in common with
	// the size of the range, so no number comes twice.
	scatter   = 6180339
	rangeSize = 10_000_000
	// oddOnes is how many lines go by for each that may be something else than
	// NORMAL. It has no factor in common with the number of networks, so that
	// each of them has such lines.
	oddOnes = 11
)

// demoLines returns the lines of the demonstration: the same ones every time,
// most of them NORMAL, every status among them.
func demoLines(region *phone.Region) ([]line.Record, error) {
	var records []line.Record
	add := func(number, network string, status line.Status) error {
		n, err := region.ParseMobile(number)
		if err != nil {
			return fmt.Errorf("the demonstration's lines are Nigerian; unset LINEPROOF_REGION for it: %w", err)
		}
		records = append(records, line.Record{Number: n, Network: network, Status: status})
		return nil
	}
	for i := range linesPerNetwork * len(demoNetworks) {
		network, status := demoNetworks[i%len(demoNetworks)], line.Normal
		if i%oddOnes == 0 {
			status = demoStatuses[i/oddOnes%len(demoStatuses)]
		}
		number := fmt.Sprintf("%s%07d", network.prefix, i*scatter%rangeSize)
		if err := add(number, network.name, status); err != nil {
			return nil, err
		}
	}
	return records, add(demoNumber, "MTN", line.Normal)
}
