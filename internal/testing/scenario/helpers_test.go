package scenario_test

// claim and release are the halves of a port from MTN to AIRTEL. The half that is
// reported first is a conflict until the other one is reported.
func claim(at when) message {
	return told(airtel, "PORT_CLAIMED", at, as("claim")).is("WAITING HALF_PORT")
}

// several parts follow each other.
type several []part

func (all several) addTo(r *row) {
	for _, p := range all {
		p.addTo(r)
	}
}

// heldHolder is a new holder that is held, because a bar was in force that has been lifted since.
var heldHolder = several{
	told(regulator, "BARRED NIN", d(-5)), told(mtn, "ASSIGNED", d(0), as("new")).is("WAITING EARLY"), told(regulator, "UNBARRED", d(0).plus(hour)),
}

func release(at when) message {
	return told(mtn, "PORT_RELEASED to AIRTEL", at, as("release"))
}
