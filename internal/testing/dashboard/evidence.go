package dashboard

// evidence is for the person who answers for the journal, the public log and what banks are told.
func evidence() Dashboard {
	return Dashboard{"evidence", "Lineproof: evidence and feed", "Is every answer recorded and provable, and do banks hear of changes?", []Row{
		{"Is it recorded and told?", []Panel{
			{"Unrecorded", "How many answers could not be recorded in the last hour? Their callers got 503.", Value, Count, []Series{{`sum(increase(lineproof_journal_entries_total{outcome=~"refused|unknown"}[1h]))`, ""}}, new(float64(1)), false},
			{"Days with partitions", "For how many days can answers be recorded?", Value, Count, []Series{{`max(lineproof_journal_days_ahead)`, ""}}, new(float64(3)), true},
			{"Checkpoint lag", "How old is the oldest entry that no published checkpoint covers?", Value, Seconds, []Series{{`max(lineproof_log_unpublished_seconds)`, ""}}, new(float64(60)), false},
			{"Oldest witness", "How long ago did the witness that is most behind sign?", Value, Seconds, []Series{{`max(time() - max by (witness) (lineproof_log_witness_timestamp_seconds))`, ""}}, new(float64(600)), false},
			{"Feed lag", "How old is the oldest change that banks do not know?", Value, Seconds, []Series{{`max(lineproof_outbox_lag_seconds{reader="feed"})`, ""}}, new(float64(60)), false},
			{"Open files", "How many files of numbers are not answered?", Value, Count, []Series{{`max(lineproof_file_jobs_open)`, ""}}, nil, false},
		}},
		{"The journal", []Panel{
			{"Records", "How many answers are recorded, and how many could not be?", Graph, PerSecond, []Series{{`sum by (outcome) (rate(lineproof_journal_entries_total[5m]))`, "{{outcome}}"}}, nil, false},
			{"Size", "How large is the journal, and how fast does it grow?", Graph, Bytes, []Series{{`max(lineproof_journal_bytes)`, "now"}, {`max(lineproof_journal_bytes_per_day)`, "per day"}}, nil, false},
			{"Days of disk left", "When is the disk full?", Graph, Days, []Series{{`min(lineproof_journal_disk_days_left)`, "days"}}, new(float64(14)), true},
			{"Age of counts", "Up to when are the counts of answers final?", Graph, Seconds, []Series{{`time() - max(lineproof_tally_settled_timestamp_seconds)`, "age"}}, new(float64(3600)), false},
		}},
		{"The public log", []Panel{
			{"Entries", "Does the log grow?", Graph, PerSecond, []Series{{`sum(rate(lineproof_log_entries_total[5m]))`, "added"}, {`sum(rate(lineproof_log_failures_total[5m]))`, "failed attempts"}}, nil, false},
			{"Delay", "How soon is an answer in the log, and published?", Graph, Seconds, []Series{{`max(lineproof_log_delay_seconds)`, "oldest batch when added"}, {`max(lineproof_log_unpublished_seconds)`, "oldest unpublished"}}, new(float64(60)), false},
			{"Late checkpoints", "Which share of the time were checkpoints late? 0.1 % may.", Graph, Share, []Series{{`lineproof:checkpoint_late:ratio_1h`, "1 hour"}, {`lineproof:checkpoint_late:ratio_3d`, "3 days"}}, new(0.001), false},
			{"Witnesses", "How long ago was the newest checkpoint published that each witness signed?", Graph, Seconds, []Series{{`time() - max by (witness) (lineproof_log_witness_timestamp_seconds)`, "{{witness}}"}}, new(float64(600)), false},
		}},
		{"The feed", []Panel{
			{"Lag by reader", "How far behind is what tells banks?", Graph, Seconds, []Series{{`max by (reader) (lineproof_outbox_lag_seconds)`, "{{reader}}"}}, new(float64(60)), false},
			{"Events", "What are banks told?", Graph, PerSecond, []Series{{`sum by (type) (rate(lineproof_feed_events_total[5m]))`, "{{type}}"}}, nil, false},
			{"Late feed", "Which share of the time was the feed late? 0.1 % may.", Graph, Share, []Series{{`lineproof:feed_late:ratio_1h`, "1 hour"}, {`lineproof:feed_late:ratio_3d`, "3 days"}}, new(0.001), false},
			{"Webhook requests", "Do endpoints of banks accept what is sent?", Graph, PerSecond, []Series{{`sum by (outcome) (rate(lineproof_webhook_requests_total[5m]))`, "{{outcome}}"}}, nil, false},
			{"Webhook delay", "How long does an event take to the endpoint?", Graph, Seconds, []Series{{`histogram_quantile(0.99, sum by (le) (rate(lineproof_webhook_delay_seconds_bucket[15m])))`, "p99"}}, nil, false},
			{"Rows of files", "How fast are files of numbers answered?", Graph, PerSecond, []Series{{`sum by (outcome) (rate(lineproof_file_job_rows_total[5m]))`, "{{outcome}}"}}, nil, false},
			{"Oldest file", "How long has the oldest file waited?", Graph, Seconds, []Series{{`max(lineproof_file_jobs_open_seconds)`, "oldest"}}, new(float64(7200)), false},
		}},
	}}
}
