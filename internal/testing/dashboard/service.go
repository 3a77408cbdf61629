package dashboard

// service is for the person who was woken: do callers get answers, how soon, and if not, why.
func service() Dashboard {
	return Dashboard{"service", "Lineproof: service", "Do callers get answers, how soon, and if not, why?", []Row{
		{"Is it up?", []Panel{
			{"Nodes up", "How many nodes does Prometheus reach?", Value, Count, []Series{{`sum(up{job="lineproof"})`, ""}}, new(float64(1)), true},
			{"Alerts", "How many alerts fire?", Value, Count, []Series{{`count(ALERTS{alertstate="firing",alertname=~"Lineproof.*"}) or vector(0)`, ""}}, new(float64(1)), false},
			{"Verify failures", "Which share of verify requests failed in the last hour? 0.05 % may.", Value, Share, []Series{{`lineproof:verify_errors:ratio_1h`, ""}}, new(0.0005), false},
			{"Error budget left", "Which share of the error budget of verify do the last 3 days leave, if all days are like them?", Value, Share, []Series{{`1 - lineproof:verify_errors:ratio_3d / 0.0005`, ""}}, new(0.2), true},
			{"Verify p99", "How long does the slowest hundredth of verify requests take?", Value, Seconds, []Series{{`lineproof:verify_seconds:p99_5m`, ""}}, new(0.25), false},
			{"Database away", "How many nodes have no database that accepts writes?", Value, Count, []Series{{`sum(lineproof_database_away)`, ""}}, new(float64(1)), false},
			{"Requests", "What is asked, and how much?", Graph, PerSecond, []Series{{`topk(8, sum by (route) (lineproof:http_requests:rate5m))`, "{{route}}"}}, nil, false},
			{"Server errors", "Which statuses of 500 and above are sent, on which node?", Graph, PerSecond, []Series{{`sum by (instance, status) (rate(lineproof_http_requests_total{status=~"5.."}[5m])) or vector(0)`, "{{instance}} {{status}}"}}, nil, false},
			{"Burn rate", "How many times faster than allowed is the error budget of verify spent? Above 14.4 for an hour wakes a person.", Graph, Count, []Series{
				{`lineproof:verify_errors:ratio_5m / 0.0005`, "5 minutes"}, {`lineproof:verify_errors:ratio_1h / 0.0005`, "1 hour"}, {`lineproof:verify_errors:ratio_6h / 0.0005`, "6 hours"},
			}, new(14.4), false},
			{"Refused by limits", "Who gets 429, by kind of limit?", Graph, PerSecond, []Series{{`sum by (by) (rate(lineproof_limit_refused_total[5m]))`, "{{by}}"}}, nil, false},
		}},
		{"Is it slow?", []Panel{
			{"Verify latency", "How long do verify requests take?", Graph, Seconds, []Series{{`lineproof:verify_seconds:p99_5m`, "p99"}, {`lineproof:verify_seconds:p50_5m`, "p50"}}, new(0.25), false},
			{"Slow verify requests", "Which share takes longer than 250 ms? 1 % may.", Graph, Share, []Series{{`lineproof:verify_slow:ratio_5m`, "5 minutes"}, {`lineproof:verify_slow:ratio_1h`, "1 hour"}}, new(0.01), false},
			{"Latency of other routes", "Which operations are slow?", Graph, Seconds, []Series{
				{`topk(8, histogram_quantile(0.99, sum by (le, route) (rate(lineproof_http_request_seconds_bucket[5m]))))`, "{{route}}"},
			}, nil, false},
			{"In flight", "Do requests pile up, being answered or waiting for a commit?", Graph, Count, []Series{{`sum by (instance) (lineproof_http_in_flight)`, "{{instance}}: answering"}, {`sum by (instance) (lineproof_verify_waiting)`, "{{instance}}: waiting for a commit"}}, nil, false},
		}},
		{"Why? The database", []Panel{
			{"Commit of the journal", "How long does a commit take? A slow disk or standby shows here first.", Graph, Seconds, []Series{
				{`histogram_quantile(0.99, sum by (le) (rate(lineproof_journal_write_seconds_bucket[5m])))`, "p99"},
				{`histogram_quantile(0.5, sum by (le) (rate(lineproof_journal_write_seconds_bucket[5m])))`, "p50"},
			}, nil, false},
			{"Answers per commit", "How many answers share a commit? More under load is as it should be.", Graph, Count, []Series{{`rate(lineproof_journal_batch_entries_sum[5m]) / rate(lineproof_journal_batch_entries_count[5m])`, "{{instance}}"}}, nil, false},
			{"Waiting for connections", "Which work waits for a connection? 1 means that a request is always waiting.", Graph, Seconds, []Series{{`sum by (lane) (rate(lineproof_database_wait_seconds_total[5m]))`, "{{lane}}"}}, new(float64(1)), false},
			{"Connections in use", "Which share of its connections does each kind of work use?", Graph, Share, []Series{{`sum by (lane) (lineproof_database_connections{state="in_use"}) / sum by (lane) (lineproof_database_connections_limit)`, "{{lane}}"}}, new(float64(1)), false},
			{"Outages of the database", "How often does the database stop answering, per minute?", Graph, Count, []Series{{`60 * rate(lineproof_database_outages_total[5m])`, "{{instance}}"}}, new(float64(4)), false},
			{"Admitted from the cache", "Were callers admitted because the database was away?", Graph, PerSecond, []Series{{`sum by (instance) (rate(lineproof_access_graced_total[5m]))`, "{{instance}}"}}, nil, false},
		}},
		{"Why? The node", []Panel{
			{"Processor", "How many processors does each node use?", Graph, Count, []Series{{`rate(process_cpu_seconds_total{job="lineproof"}[5m])`, "{{instance}}"}}, nil, false},
			{"Memory", "How much memory does each node use?", Graph, Bytes, []Series{{`process_resident_memory_bytes{job="lineproof"}`, "{{instance}}"}}, nil, false},
			{"Failed jobs", "Which jobs fail?", Graph, Count, []Series{{`sum by (kind) (increase(lineproof_jobs_total{outcome="failed"}[15m]))`, "{{kind}}"}}, nil, false},
			{"Panics", "Were there errors in the program?", Graph, Count, []Series{{`increase(lineproof_panics_total[15m])`, "{{instance}}"}}, new(float64(1)), false},
			{"Limits without Redis", "Do nodes limit rates by themselves?", Graph, PerSecond, []Series{{`sum by (instance) (rate(lineproof_limit_local_total[5m]))`, "{{instance}}"}}, nil, false},
			{"Versions", "Which versions run?", Graph, Count, []Series{{`sum by (version) (lineproof_build_info)`, "{{version}}"}}, nil, false},
			{"Certificates", "When does the certificate of each node expire?", Graph, Seconds, []Series{{`lineproof_certificate_expiry_timestamp_seconds - time()`, "{{instance}}"}}, new(float64(14 * 86400)), true},
		}},
		{"Who may?", []Panel{
			{"Rows that were not accepted", "Did somebody else than the service write rows that decide access?", Graph, Count, []Series{{`sum by (table) (increase(lineproof_rows_refused_total[15m]))`, "{{table}}"}}, new(float64(1)), false},
			{"Number scanning", "Whom did the guard flag, why, and what did it do?", Graph, Count, []Series{{`sum by (kind, level) (increase(lineproof_guard_alerts_total[15m])) > 0 or vector(0)`, "{{kind}}: {{level}}"}}, new(float64(1)), false},
			{"Notified of revocations", "Which nodes are notified at once of a revoked credential?", Graph, Count, []Series{{`lineproof_access_hearing`, "{{instance}}"}}, new(float64(1)), true},
			{"Connections refused", "Which nodes close connections or fail handshakes?", Graph, PerSecond, []Series{
				{`rate(lineproof_connections_refused_total[5m])`, "{{instance}}: too many of one address"}, {`rate(lineproof_tls_handshake_failures_total[5m])`, "{{instance}}: TLS"},
			}, nil, false},
		}},
	}}
}
