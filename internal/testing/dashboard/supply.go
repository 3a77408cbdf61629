package dashboard

// supply is for the staff who look after operators and documents: is every network current, and
// what waits for whom.
func supply() Dashboard {
	return Dashboard{"supply", "Lineproof: supply", "Is what we know of each network current, and what waits for whom?", []Row{
		{"Is every network current?", []Panel{
			{"Silent operators", "How many networks have lines that are UNKNOWN, because their operator stopped supplying?", Value, Count, []Series{{`sum(max by (network) (lineproof_supply_silent))`, ""}}, new(float64(1)), false},
			{"Time until silent", "How long until the lines of a network become UNKNOWN, if its operator supplies nothing more?", Value, Seconds, []Series{{`min(max by (network) (lineproof_supply_fresh_until_timestamp_seconds > 0) - time())`, ""}}, new(float64(6 * 3600)), true},
			{"Lines", "How many lines are known?", Value, Count, []Series{{`sum(max by (network) (lineproof_supply_lines))`, ""}}, nil, false},
			{"Held imports", "How many imports wait for two people?", Value, Count, []Series{{`max(lineproof_imports_held)`, ""}}, new(float64(1)), false},
			{"Documents waiting", "How many documents wait for their scan?", Value, Count, []Series{{`max(lineproof_documents_waiting)`, ""}}, nil, false},
			{"Scanner", "Does the virus scanner pass its test?", Value, Count, []Series{{`max(lineproof_scanner_test{state="ok"})`, ""}}, new(float64(1)), true},
			{"Age of supply by network", "Since when has each operator supplied nothing?", Graph, Seconds, []Series{{`time() - max by (network) (lineproof_supply_through_timestamp_seconds > 0)`, "{{network}}"}}, nil, false},
			{"Lines by network", "Did a network lose or gain many lines at once?", Graph, Count, []Series{{`max by (network) (lineproof_supply_lines)`, "{{network}}"}}, nil, false},
		}},
		{"Does supplying work?", []Panel{
			{"Supply requests", "How much do operators send, by operation and status?", Graph, PerSecond, []Series{{`sum by (route, status) (lineproof:http_requests:rate5m{route=~".*(lines|imports|line-events).*"}) or vector(0)`, "{{route}} {{status}}"}}, nil, false},
			{"Connections of supply", "Do events or imports wait for the database?", Graph, Seconds, []Series{{`sum by (lane) (rate(lineproof_database_wait_seconds_total{lane=~"supply|imports"}[5m]))`, "{{lane}}"}}, new(float64(1)), false},
			{"Changes of lines", "How many changes does what was supplied make?", Graph, PerSecond, []Series{{`sum(rate(lineproof_feed_changes_total[5m]))`, "changes"}}, nil, false},
			{"Notices about past answers", "How many answers would be different now? A steep rise: an operator reports late, or has corrected much.", Graph, PerSecond, []Series{{`sum(rate(lineproof_impact_notices_total[5m]))`, "notices"}}, nil, false},
		}},
		{"Do documents get through?", []Panel{
			{"Scans by outcome", "What did the scanner find?", Graph, Count, []Series{{`sum by (outcome) (increase(lineproof_document_scans_total[15m]))`, "{{outcome}}"}}, nil, false},
			{"Oldest document", "For how long has the oldest document waited?", Graph, Seconds, []Series{{`max(lineproof_documents_waiting_seconds)`, "oldest"}}, new(float64(3600)), false},
			{"Test of the scanner", "What was the result of each node's last test?", Graph, Count, []Series{{`max by (state) (lineproof_scanner_test)`, "{{state}}"}}, nil, false},
			{"Files removed", "What was removed from the store, and why?", Graph, Count, []Series{{`sum by (why) (increase(lineproof_document_files_removed_total[1h]))`, "{{why}}"}}, nil, false},
		}},
	}}
}
