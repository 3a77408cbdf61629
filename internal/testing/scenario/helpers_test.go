package scenario_test

// claim and release are the halves of a port from MTN to AIRTEL. The half that is
// reported first is a conflict until the other one is reported.
func claim(at when) message {
	return told(airtel, "PORT_CLAIMED", at, as("claim")).is("CONFLICT HALF_PORT")
}

func release(at when) message {
	return told(mtn, "PORT_RELEASED to AIRTEL", at, as("release"))
}
